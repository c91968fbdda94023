"""How much each method loses: datasets, measures, statistics, and runs that leave one result file per cell."""
