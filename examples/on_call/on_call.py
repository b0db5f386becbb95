"""Asks whoever is on call, one after the other, until somebody has answered."""

import asyncio
import sys

from answerback.client import Answered, Cancelled, Client, Expired

ROTA = ["ana", "ben"]
QUESTION = {"text": "Delete the logs on db-1?", "kind": "confirm"}
WHY = "Its disk is full, and orders fail."


async def main(patience: str) -> int:
    async with Client() as client:
        for person in ROTA:
            print(f"Asking {person} …")
            match await client.ask_and_wait(
                QUESTION, ask=[person], context=WHY, title="On call", route="alarm", expires_in=patience
            ):
                case Answered(value=True, by=who):
                    print(f"{who} says yes: deleting.")
                    return 0
                case Answered(by=who):
                    print(f"{who} says no, so nobody else is asked.")
                    return 1
                case Expired():
                    print(f"{person} did not answer.")
                case Cancelled(reason=why):
                    print(f"Withdrawn: {why}")
                    return 1
    print("Nobody answered: nothing is deleted.")
    return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
