#!/bin/bash
# Idea: approvals of `sbxrun mcp` used twice, for something else, or made up.
# Escape: something runs that no person has allowed.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mcp.sh"

an_answer_is_used_once_and_for_what_was_asked() {
	mcp <<-'END'
	s = Server("", "")
	s.initialize()
	id = s.call("box_exec", sandbox_id="b", command=["true"])["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	sbxrun("approve", "yes", id)
	def denied(**a): return "Denied" in s.call("box_exec", approval_id=id, **a)["content"][0]["text"]
	assert denied(sandbox_id="b", command=["false"]), "another command"
	assert denied(sandbox_id="c", command=["true"]), "another box"
	assert denied(sandbox_id="b", command=["true"], timeout=900), "another time"
	assert not denied(sandbox_id="b", command=["true"]), "what was asked"
	assert denied(sandbox_id="b", command=["true"]), "twice"
	END
}

what_a_client_gives_back_is_not_made_up() {
	mcp <<-'END'
	asks = {"elicitation": {}}
	s = Server("", "")
	def call(more=None, command=("true",)):
	    return s.modern_call("box_exec", asks, more, sandbox_id="b", command=list(command))["result"]
	yes = {"approval": {"action": "accept", "content": {"decision": "allow_once"}}}
	state = call()["requestState"]
	id = json.loads(sbxrun("approve", "list", "--json"))[0]["id"]
	for made in (id, id + "." + "0" * 64, state[:-1] + "fe"[state[-1] == "f"]):
	    assert "requestState" in call({"requestState": made, "inputResponses": yes})["content"][0]["text"], made
	assert "requestState" in call({"requestState": state, "inputResponses": yes}, ("false",))["content"][0]["text"]
	assert "Denied" not in call({"requestState": state, "inputResponses": yes})["content"][0]["text"]
	assert "Denied" in call({"requestState": state, "inputResponses": yes})["content"][0]["text"]
	END
}

run_tests
