-- Environment module of Leadline for Lmod. Put it into a directory of MODULEPATH as leadline/VERSION.lua, and write the
-- environment that the wheel was installed in, and a directory that the nodes share, into the two lines below.
local prefix = os.getenv("LEADLINE_PREFIX") or "/opt/leadline"
local state = os.getenv("LEADLINE_STATE") or pathJoin(os.getenv("HOME"), ".cache", "leadline")

help("Leadline measures what message passing and parallel I/O cost. First: leadline doctor")
whatis("Name: leadline")
whatis("Description: latency, bandwidth, collectives and parallel I/O of each MPI, with intervals")

prepend_path("PATH", pathJoin(prefix, "bin"))
setenv("LEADLINE_STATE", state)
