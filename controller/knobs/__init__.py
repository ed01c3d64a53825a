"""The fields of the engines that Trimtab knows how to move: what they hold, and the manifest that sets them. Pure."""
