"""Commands of Leadline as jobs of a batch system: submitted, followed, resumed after a limit, cancelled.

A job is a command line and the one that continues it; what the command does is not known here. Its files are
in `<state>/jobs/NAME/`, which the nodes must see, as they must see the directory that it was submitted in.
"""

from leadline.batch.follow import follow
from leadline.batch.job import BatchJob, Resources, forget, jobs
from leadline.batch.systems import SYSTEMS, cancel, state, submit

__all__ = ["SYSTEMS", "BatchJob", "Resources", "cancel", "follow", "forget", "jobs", "state", "submit"]
