"""Writes second-source.ndjson: the public holidays of the Python library "holidays", dates only, one line a country.

    git clone https://github.com/vacanza/holidays && git -C holidays checkout <commit>
    python3 bin/holidays/second-source.py holidays <commit> <today>

The compile of the holidays compares its result with these dates; nothing else reads them.
"""

import json
import pathlib
import sys

FIRST_YEAR, LAST_YEAR = 2024, 2030
HERE = pathlib.Path(__file__).parent
COMPILED = HERE / "../../src/modules/holidays/data/holidays.ndjson"
# The library counts each Sunday of Sweden as a holiday.
OPTIONS = {"SE": {"include_sundays": False}}

checkout, commit, extracted = sys.argv[1:4]
sys.path.insert(0, checkout)
import holidays  # noqa: E402


def line(country):
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    try:
        source = getattr(holidays, country)(years=years, **OPTIONS.get(country, {}))
    except AttributeError:
        return None
    days = sorted(source)
    texts = (",".join(f"{day:%m%d}" for day in days if day.year == year) for year in years)
    return {country: ";".join(texts)}


with COMPILED.open(encoding="utf-8") as compiled:
    countries = [each["country"] for each in json.loads(compiled.readline())["countries"]]
header = {
    "attribution": "Dates of public holidays, extracted from the Python library holidays"
    " (https://github.com/vacanza/holidays), Copyright (c) Vacanza Team and individual contributors,"
    " dr-prodigy, ryanss; MIT licence (https://opensource.org/license/mit).",
    "commit": commit,
    "extracted": extracted,
    "first_year": FIRST_YEAR,
    "last_year": LAST_YEAR,
}
lines = [header, *filter(None, map(line, countries))]
text = "\n".join(json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in lines)
(HERE / "second-source.ndjson").write_text(f"{text}\n", encoding="utf-8")
print(f"{len(lines) - 1} countries")
