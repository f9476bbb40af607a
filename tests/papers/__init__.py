"""The claims of papers, on toy machines whose every value can be done by hand."""
