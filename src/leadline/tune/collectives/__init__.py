"""Which of a library's algorithms are faster than its own choice, and files that set them."""
