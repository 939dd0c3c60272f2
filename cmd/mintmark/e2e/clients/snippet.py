"""Runs the program that the developer settings show for Python: the story of snippet.mjs."""
import json
import sys

sys.path.insert(0, sys.argv[1])
import snippet


def say(value):
    print(json.dumps(value), flush=True)


def visit(url, decision="allow"):
    say({"visit": url, "decision": decision})
    return sys.stdin.readline().strip()


def refusal(session, address):
    try:
        snippet.callback(session, address)
    except ValueError as err:
        return {"message": str(err)}
    raise SystemExit("this was not refused")


mine, another = {}, {}
answer = visit(snippet.start(mine))
snippet.start(another)
refused = {"foreign": refusal(another, answer)}
bare = "&".join(part for part in answer.split("&") if not part.startswith("iss="))
refused["mixedUp"] = refusal(dict(mine), bare + "&iss=https%3A%2F%2Fanother.example")
refused["nobodys"] = refusal(dict(mine), bare)
first = snippet.callback(mine, answer)
refused["again"] = refusal(mine, answer)
second = snippet.refresh(first["refresh_token"])
refused["cancelled"] = refusal(mine, visit(snippet.start(mine), "cancel"))
say({"result": {"first": first, "second": second, "refused": refused}})
