"""The benchmark: ratios measured side by side in one run, as a table and as var/bench.json."""
