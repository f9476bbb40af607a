#%Module1.0
# Environment module of Leadline for Environment Modules; see leadline.lua.
set prefix [expr {[info exists ::env(LEADLINE_PREFIX)] ? $::env(LEADLINE_PREFIX) : "/opt/leadline"}]
set state [expr {[info exists ::env(LEADLINE_STATE)] ? $::env(LEADLINE_STATE) : "$::env(HOME)/.cache/leadline"}]

proc ModulesHelp {} { puts stderr "Leadline measures what message passing and parallel I/O cost. First: leadline doctor" }
module-whatis "latency, bandwidth, collectives and parallel I/O of each MPI, with intervals"

prepend-path PATH $prefix/bin
setenv LEADLINE_STATE $state
