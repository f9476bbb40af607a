"""This machine: its cores, its MPIs as executors of points, and whether it is ready."""
