"""A gateway that asks Ana by mail, whose mail server is the sandbox."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from answerback import app as composition
from answerback.agent import Agent
from answerback.app import App
from answerback.model import Address, Contact
from answerback.settings import Plugin, Route, Settings
from answerback_sandbox import Sandbox
from answerback_sandbox.endpoints import endpoints
from tests.support.databases import Database

ANA = "ana@people.test"


@contextlib.asynccontextmanager
async def gateway(database: Database, box: Sandbox, agent: Agent, **more: Any) -> AsyncIterator[App]:
    """As the sandbox's own description of itself says how to connect."""
    mail = endpoints(box)["mail"]
    account = {"username": mail["username"], "password": mail["password"]}
    servers = {name: {**mail[name], **account, "port": str(mail[name]["port"])} for name in ("smtp", "imap")}
    options = {"address": mail["address"], "authserv_id": mail["authserv_id"], **servers}
    app = composition.build(
        Settings(
            data_dir=str(database.data_dir),
            database=database.url,
            public_url="https://ask.example.org",
            form_auth="code",
            providers={"email": Plugin("email", "email", options)},
            contacts={"ana": Contact("ana", "Ana", addresses=(Address("email", ANA, ANA),))},
            routes={"default": Route("default", ("ana",), ("email",))},
            **more,
        ),
        agents={"scripted": agent},
    )
    await app.start()
    try:
        yield app
    finally:
        await app.stop()
