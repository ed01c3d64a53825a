"""The living part: the tick loop, its stores, the webhook, the status page. All I/O of the controller starts here."""
