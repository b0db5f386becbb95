"""What machines write: the reply of somebody who is away, and the report that a mail came back."""

import uuid
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import formataddr

from answerback_sandbox.mail.making import date, put_headers, text_part
from answerback_sandbox.mail.state import Letter

HOST = "mx.sandbox.test"
DAEMON = f"MAILER-DAEMON@{HOST}"


def absence(letter: Letter, name: str, address: str, to: str, text: str, at: int) -> Message:
    """As RFC 3834 section 3 has it, and with what Exchange adds."""
    mail = text_part(text + "\n", "plain", "utf-8", "quoted-printable")
    put_headers(
        mail,
        {
            "From": formataddr((name, address)),
            "To": to,
            "Subject": f"Automatic reply: {letter.subject}",
            "Date": date(at),
            "Message-ID": f"<{uuid.uuid4().hex}@{address.rpartition('@')[2]}>",
            "In-Reply-To": letter.message_id,
            "References": letter.message_id,
            "Auto-Submitted": "auto-replied",
            "X-Auto-Response-Suppress": "All",
        },
    )
    return mail


def returned(raw: bytes, sender: str, recipient: str, at: int) -> Message:
    """A delivery status notification (RFC 3464) to the envelope's sender, with the old mail's headers."""
    report = MIMEMultipart("report", report_type="delivery-status")
    put_headers(
        report,
        {
            "From": f"Mail Delivery Subsystem <{DAEMON}>",
            "To": sender,
            "Subject": "Undelivered Mail Returned to Sender",
            "Date": date(at),
            "Message-ID": f"<{uuid.uuid4().hex}@{HOST}>",
            "Auto-Submitted": "auto-replied",
        },
    )
    report.attach(MIMEText(f"Your mail could not be delivered to {recipient}: there is no such mailbox.\n"))
    about = {"Reporting-MTA": f"dns; {HOST}"}
    fate = {
        "Final-Recipient": f"rfc822; {recipient}",
        "Action": "failed",
        "Status": "5.1.1",
        "Diagnostic-Code": f"smtp; 550 5.1.1 <{recipient}>: no such mailbox",
    }
    status = Message()
    status["Content-Type"] = "message/delivery-status"
    status.set_payload([_block(about), _block(fate)])
    report.attach(status)
    head = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0].decode("ascii", "replace")
    report.attach(MIMEText(head.encode("ascii", "replace").decode() + "\n", "rfc822-headers"))
    return report


def _block(fields: dict[str, str]) -> Message:
    block = Message()
    put_headers(block, fields)
    return block
