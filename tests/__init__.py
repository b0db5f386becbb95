"""The specification of answerback, one folder for each way of asking it."""
