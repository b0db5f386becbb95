"""The world on Telegram's side: the bot, the people, their chats, and what the bot gets to know of it."""

from collections.abc import Callable
from dataclasses import replace

from answerback_sandbox.changes import Changes
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.telegram import wire
from answerback_sandbox.telegram.errors import bad_request
from answerback_sandbox.telegram.state import Callback, Chat, ChatKind, File, Message, Person
from answerback_sandbox.telegram.updates import Updates

FIRST_GROUP = -1_001_000_000_000
FIRST_UPDATE = 710_000_001
CALLBACK_SECONDS = 30


class World:
    """All of it in memory, changed only from the one event loop.

    `clock` gives microseconds since the Unix epoch; `privacy` is the bot's privacy mode in groups
    (https://core.telegram.org/bots/features#privacy-mode).
    """

    def __init__(
        self,
        changes: Changes,
        clock: Callable[[], int],
        *,
        bot_id: int,
        username: str,
        name: str,
        privacy: bool,
    ) -> None:
        self.changes = changes
        self.clock = clock
        self.bot_id = bot_id
        self.username = username
        self.name = name
        self.privacy = privacy
        self.updates = Updates(changes, clock, FIRST_UPDATE)
        self.people: dict[int, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.callbacks: dict[str, Callback] = {}
        self.files: dict[str, File] = {}
        self.commands: dict[tuple[str, str], list[dict[str, str]]] = {}
        self._last_private_id = 0

    def add_person(self, person: Person, *, started: bool) -> Person:
        """A person and their private chat with the bot. Raises SandboxError if the id is taken or below 1."""
        if person.id <= 0 or person.id in self.people or person.id == self.bot_id:
            raise SandboxError(f"the id {person.id} cannot be used for another person")
        self.people[person.id] = person
        self.chats[person.id] = Chat(person.id, ChatKind.PRIVATE, person.first_name, (person.id,), started)
        self.changes.touch()
        return person

    def add_group(
        self, title: str, members: tuple[int, ...], kind: ChatKind = ChatKind.GROUP, *, told: bool = True
    ) -> Chat:
        """A group of people and the bot, which is told. Raises SandboxError for unknown or no members."""
        if not members or not title.strip():
            raise SandboxError("a group needs a title and a member")
        for member in members:
            self.person(member)
        number = sum(chat.kind is not ChatKind.PRIVATE for chat in self.chats.values()) + 1
        first = FIRST_GROUP if kind is ChatKind.GROUP else 0
        group = Chat(first - number, kind, title, members)
        self.chats[group.id] = group
        if told:
            self.bot_membership(group, members[0], "left", "member")
        return group

    def person(self, person_id: int) -> Person:
        """Raises SandboxError if there is no such person."""
        if person_id not in self.people:
            raise SandboxError(f"there is no person {person_id}")
        return self.people[person_id]

    def chat_of(self, person_id: int, chat_id: int | None) -> Chat:
        """The chat as that person sees it, by default the private one. Raises SandboxError."""
        self.person(person_id)
        chat = self.chats.get(person_id if chat_id is None else chat_id)
        if chat is None or person_id not in chat.members:
            raise SandboxError(f"person {person_id} is not in chat {chat_id}")
        return chat

    def post(self, chat: Chat, message: Message) -> Message:
        """Put a new message into its chat under the next id; private chats share one row of ids."""
        if chat.kind is ChatKind.PRIVATE:
            self._last_private_id += 1
            message = replace(message, id=self._last_private_id)
        else:
            chat.last_id += 1
            message = replace(message, id=chat.last_id)
        chat.messages[message.id] = message
        if message.sender_id == self.bot_id:
            chat.action_until = 0
        self.changes.touch()
        return message

    def change(self, message: Message) -> Message:
        """Put a changed message in its place."""
        self.chats[message.chat_id].messages[message.id] = message
        self.changes.touch()
        return message

    def delete(self, message: Message) -> None:
        """Take a message away for everyone."""
        del self.chats[message.chat_id].messages[message.id]
        self.changes.touch()

    def bot_membership(self, chat: Chat, by: int, old: str, new: str) -> None:
        """Tell the bot that it was added, blocked or let in again (`my_chat_member`)."""

        def member(status: str) -> wire.Json:
            return {"user": self.bot_user(), "status": status} | (
                {"until_date": 0} if status == "kicked" else {}
            )

        self.updates.put(
            "my_chat_member",
            {
                "chat": self.chat_json(chat),
                "from": wire.user(self.people[by]),
                "date": wire.seconds(self.clock()),
                "old_chat_member": member(old),
                "new_chat_member": member(new),
            },
        )

    def pending_callback(self, callback_id: str) -> Callback:
        """A tap that can still be answered. Raises ApiError.

        Telegram gives no figure for "too old"; here it is 30 seconds, while the phone shows the button busy.
        """
        callback = self.callbacks.get(callback_id)
        horizon = self.clock() - CALLBACK_SECONDS * 1_000_000
        if callback is None or callback.answered or callback.tapped_at < horizon:
            raise bad_request("query is too old and response timeout expired or query ID is invalid")
        return callback

    def bot_user(self) -> wire.Json:
        """The bot as the sender of messages."""
        return {"id": self.bot_id, "is_bot": True, "first_name": self.name, "username": self.username}

    def sender_json(self, sender_id: int) -> wire.Json:
        """Whoever sent a message."""
        return self.bot_user() if sender_id == self.bot_id else wire.user(self.people[sender_id])

    def chat_json(self, chat: Chat) -> wire.Json:
        """A chat as messages name it."""
        return wire.chat(chat, self.people.get(chat.id))

    def message_json(self, message: Message) -> wire.Json:
        """A message as the bot sees it, with the message it replies to if that still exists."""
        chat = self.chats[message.chat_id]
        place = self.chat_json(chat)
        replied = chat.messages.get(message.reply_to) if message.reply_to is not None else None
        inner = (
            None
            if replied is None
            else wire.message(replied, self.sender_json(replied.sender_id), place, None)
        )
        return wire.message(message, self.sender_json(message.sender_id), place, inner)
