"""Mail: an SMTP server that takes the agent's mail, mailboxes with people behind them, an IMAP server."""
