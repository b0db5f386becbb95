"""The certificates and the mail servers that the tests of the mail provider share."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from tests.providers.email.support import Mailroom, mail_server


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The certificate to trust, as `smtp.ca_file` takes it."""
    path: Path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture(scope="session")
def certificate(authority: trustme.CA) -> ssl.SSLContext:
    """A server's context for localhost."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture
async def plain_server() -> AsyncIterator[Mailroom]:
    async with mail_server() as room:
        yield room


@pytest.fixture
async def starttls_server(certificate: ssl.SSLContext) -> AsyncIterator[Mailroom]:
    async with mail_server(starttls=certificate) as room:
        yield room


@pytest.fixture
async def tls_server(certificate: ssl.SSLContext) -> AsyncIterator[Mailroom]:
    async with mail_server(tls=certificate) as room:
        yield room
