"""What is asked for: plans as files and as objects, and the points that they mean."""
