"""The fits: what holds for every one of them, and each against data whose parameters are known."""
