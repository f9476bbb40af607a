"""Where a plan is run: on this machine, or on a described one."""
