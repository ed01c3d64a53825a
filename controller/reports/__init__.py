"""The weekly capacity report: reads history, counts, writes one file. Changes nothing, and the loop never loads it."""
