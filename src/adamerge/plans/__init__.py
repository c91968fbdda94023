"""What to store for a budget, and what it loses, before anything is stored.

sample.py         pages -> a sample of them; sources.py: of vectors on disk, a store, or files
target.py         what a plan has to meet
linked_pages.py   pages -> their merge trees, cut at any height
candidates.py     which heights and dtypes are tried
measured.py       each candidate -> bytes and agreement on the sample
loss_map.py       agreement -> expected loss, by loss_map.json
frontier.py       rows -> those that nothing beats, and the one to take
speeds.py         how fast one machine is, by speeds.json
store_needs.py    a row -> memory, limits and times of a store
plan_html.py      a plan -> one HTML file; web/: its page, style and JavaScript modules
planning.py       all of it: pages, a target -> a Plan; for_indexing.py: the plan of files that are indexed next
"""

from adamerge.plans.candidates import DTYPES
from adamerge.plans.frontier import PlanRow
from adamerge.plans.planning import Plan, plan
from adamerge.plans.sample import SAMPLE, spread
from adamerge.plans.store_needs import Corpus, StoreNeeds
from adamerge.plans.target import Target, target_of

__all__ = [
    "DTYPES",
    "SAMPLE",
    "Corpus",
    "Plan",
    "PlanRow",
    "StoreNeeds",
    "Target",
    "plan",
    "spread",
    "target_of",
]
