"""How long parallel writing takes on a described machine: settings in, seconds and their parts out.

    from leadline import storage
    job = storage.job("hopper", "vpic", ranks=2048)
    job.seconds(job.default)                       # without any setting: what a user gets
    job.seconds({"striping_factor": 156, "striping_unit": 2**25, "cb_nodes": 512})
    job.seconds(settings, seed=7, noise=0.1)       # as a production machine would answer
    job.space                                      # the paper's space of settings for this machine and kernel
    job.parts(settings)                            # open, synchronise, exchange, write, lock, close

`_model` has the mathematics, `patterns/` one file for each kernel's access pattern, and a machine's
`[storage]` the constants. A call takes microseconds whatever the number of ranks, and a whole space is one
call.
"""

from leadline.tune.storage._job import Job, job
from leadline.tune.storage._model import PARTS
from leadline.tune.storage.patterns import Pattern, pattern
from leadline.tune.storage.patterns import names as kernels

__all__ = ["PARTS", "Job", "Pattern", "job", "kernels", "pattern"]
