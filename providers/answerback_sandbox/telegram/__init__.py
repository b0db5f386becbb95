"""A Telegram Bot API as a bot sees it: the published behaviours and error texts, kept in memory."""
