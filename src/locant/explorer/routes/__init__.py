"""The addresses, one file for each tab of the page."""
