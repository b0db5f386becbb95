"""What several hazards share: the usual answers, and what the journal says after them."""

from tests.conformance.steps import Answer, lines

FIRST, SECOND = Answer("First?", "one", key="first"), Answer("Second?", "two", key="second")
BOTH = (lines("First? one", "Second? two", "end"),)
WHICH = Answer("Which?", "one", key="which")
ONE = (lines("Which? one", "end"),)
A, B, C = Answer("About a?", "one"), Answer("About b?", "two"), Answer("About c?", "three")
ABC = (lines("About a? one", "About b? two", "About c? three", "end"),)
LEFT = lines()  # a run that silence leaves paused is no wrong answer either
