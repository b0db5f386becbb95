"""Peers as they are measured: each runs in a process and an environment of its own."""
