"""What papers found on their machines, claim by claim, beside what a described machine gives.

`papers/NAME.toml` holds a paper's claims as data (`paper`) and names the plans and machines by which they are
checked; `runs` simulates those plans; a file here with the paper's name (`bgp`, `bgl`) has one function a
claim that takes its value from the records (`checks`, `results`); `outcome` says what came of it. Nothing
here knows whether records were simulated a moment ago or read from a run of last year.
"""
