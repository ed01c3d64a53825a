"""From a snapshot to decisions: findings, causes, proposals, guards, trials, the ledger. Pure: no I/O, no clock."""
