"""The command `trimtab`: one module per verb."""
