"""The words of the pages, a module for each language."""
