"""Mean and deviation of the temperatures of each city."""
import collections
import csv
import statistics

cities = collections.defaultdict(list)
with open("/data/measurements.csv", newline="") as f:
    for row in csv.DictReader(f):
        cities[row["city"]].append(float(row["temperature"]))
with open("/output/results.txt", "w") as f:
    for city, values in sorted(cities.items()):
        print(f"{city}: n {len(values)} mean {statistics.mean(values):.2f} deviation {statistics.stdev(values):.2f}", file=f)
