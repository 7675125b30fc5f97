"""The catalogue that the official conformance suite expects, as a backend: run it to serve it over stdio."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import struct
import sys
import zlib
from typing import Any

from specloom.server.protocol import (
    INVALID_PARAMS,
    Backend,
    Call,
    Catalogue,
    MissingCapability,
    NoChannel,
    NotFound,
    ProtocolError,
)

Result = dict[str, Any]
SEAL_KEY = secrets.token_bytes(32)
PAUSE = 0.05
"""Seconds between two messages of a call; the suite asks for about this much."""


def _png() -> bytes:
    """A picture of one red point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    points = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", points) + chunk(b"IEND", b"")


def _wav() -> bytes:
    """A sound of four samples of silence."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", 4) + b"\x80" * 4
    return b"RIFF" + struct.pack("<I", len(body)) + body


PNG = base64.b64encode(_png()).decode()
WAV = base64.b64encode(_wav()).decode()
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def text(words: str) -> Result:
    """A result with one block of text."""
    return {"content": [{"type": "text", "text": words}]}


def embedded(uri: str, kind: str, words: str) -> Result:
    """A block that holds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def form(message: str, **properties: Result) -> Result:
    """The parameters of a question to the user."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"message": message, "requestedSchema": schema}


def elicit(message: str, **properties: Result) -> Result:
    """A question to the user, for an `input_required` result."""
    return {"method": "elicitation/create", "params": form(message, **properties)}


def sample(words: str, most: int) -> Result:
    """A question to the client's model."""
    messages = [{"role": "user", "content": {"type": "text", "text": words}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS: Result = {"method": "roots/list", "params": {}}
STRING: Result = {"type": "string"}


def need(requests: Result, state: str | None = None) -> Result:
    """An `input_required` result."""
    result: Result = {"resultType": "input_required", "inputRequests": requests}
    return {**result, "requestState": state} if state is not None else result


def seal(data: Result) -> str:
    """A state that the client cannot change unnoticed."""
    body = base64.urlsafe_b64encode(json.dumps(data).encode()).decode()
    return f"{body}.{hmac.new(SEAL_KEY, body.encode(), hashlib.sha256).hexdigest()}"


def unseal(state: str | None) -> Result:
    """What was sealed; raises `ProtocolError` if the state is missing or was changed."""
    body, _, tag = (state or "").partition(".")
    if not hmac.compare_digest(hmac.new(SEAL_KEY, body.encode(), hashlib.sha256).hexdigest(), tag):
        raise ProtocolError(INVALID_PARAMS, "The requestState is not one that this server has issued")
    return dict(json.loads(base64.urlsafe_b64decode(body)))


DEFAULTS: Result = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": value, "title": f"Title {number}"} for number, value in enumerate(OPTIONS, 1)]
ENUMS: Result = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": OPTIONS, "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
SCHEMA_2020: Result = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": STRING, "city": STRING},
        }
    },
    "properties": {
        "name": STRING,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
ARGUMENTS: dict[str, Result] = {
    "test_sampling": {"prompt": STRING},
    "test_elicitation": {"message": STRING},
    "test_x_mcp_header": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


class Fixtures(Backend):
    """The tools, resources and prompts of the suite. A tool is a method `do_…`."""

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> Result:
        return dict(await getattr(self, f"do_{name}")(arguments, call))

    async def do_test_simple_text(self, arguments: Result, call: Call) -> Result:
        return text("This is a simple text response for testing.")

    async def do_test_image_content(self, arguments: Result, call: Call) -> Result:
        return {"content": [IMAGE]}

    async def do_test_audio_content(self, arguments: Result, call: Call) -> Result:
        return {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}

    async def do_test_embedded_resource(self, arguments: Result, call: Call) -> Result:
        return {"content": [embedded("test://embedded-resource", "text/plain", "This is an embedded resource.")]}

    async def do_test_multiple_content_types(self, arguments: Result, call: Call) -> Result:
        data = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
        return {"content": [{"type": "text", "text": "Multiple content types test:"}, IMAGE, data]}

    async def do_test_error_handling(self, arguments: Result, call: Call) -> Result:
        return {**text("This tool intentionally returns an error for testing"), "isError": True}

    async def do_test_tool_with_progress(self, arguments: Result, call: Call) -> Result:
        for step in (0, 50, 100):
            call.progress(step, 100, f"Completed step {step} of 100")
            await asyncio.sleep(PAUSE)
        return text("Done.")

    async def do_test_tool_with_logging(self, arguments: Result, call: Call) -> Result:
        for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            call.log("info", words)
            await asyncio.sleep(PAUSE)
        return text("Logged three times.")

    async def do_test_logging_tool(self, arguments: Result, call: Call) -> Result:
        call.log("info", "Tool execution started")
        return text("Logged once.")

    async def do_test_sampling(self, arguments: Result, call: Call) -> Result:
        question = sample(arguments.get("prompt", ""), 100)
        return await self._ask(call, question["method"], question["params"], "LLM response")

    async def do_test_elicitation(self, arguments: Result, call: Call) -> Result:
        question = form(arguments.get("message", ""), username=STRING, email=STRING)
        return await self._ask(call, "elicitation/create", question, "User response")

    async def do_test_elicitation_sep1034_defaults(self, arguments: Result, call: Call) -> Result:
        question = form("Please review these values", **DEFAULTS)
        return await self._ask(call, "elicitation/create", question, "Elicitation completed")

    async def do_test_elicitation_sep1330_enums(self, arguments: Result, call: Call) -> Result:
        question = form("Please choose", **ENUMS)
        return await self._ask(call, "elicitation/create", question, "Elicitation completed")

    async def _ask(self, call: Call, method: str, params: Result, label: str) -> Result:
        try:
            return text(f"{label}: {json.dumps(await call.request(method, params))}")
        except NoChannel as error:
            return {**text(str(error)), "isError": True}

    async def do_test_missing_capability(self, arguments: Result, call: Call) -> Result:
        if "sampling" not in call.client_capabilities:
            raise MissingCapability({"sampling": {}})
        return text("The capability is declared.")

    async def do_test_streaming_elicitation(self, arguments: Result, call: Call) -> Result:
        return need({"answer": elicit("What is your answer?", answer=STRING)})

    async def do_test_x_mcp_header(self, arguments: Result, call: Call) -> Result:
        return text(f"Region: {arguments.get('region', 'none')}")

    async def do_test_reconnection(self, arguments: Result, call: Call) -> Result:
        return text("There is no stream to close on a pipe.")

    async def do_test_trigger_tool_change(self, arguments: Result, call: Call) -> Result:
        call.notify("notifications/tools/list_changed")
        return text("Told the subscribers.")

    async def do_test_trigger_prompt_change(self, arguments: Result, call: Call) -> Result:
        call.notify("notifications/prompts/list_changed")
        return text("Told the subscribers.")

    async def do_json_schema_2020_12_tool(self, arguments: Result, call: Call) -> Result:
        return text(json.dumps(arguments))

    async def do_test_input_required_result_elicitation(self, arguments: Result, call: Call) -> Result:
        answer = (call.input_responses or {}).get("user_name")
        name = answer.get("content", {}).get("name") if isinstance(answer, dict) else None
        if not isinstance(name, str):
            return need({"user_name": elicit("What is your name?", name=STRING)})
        return text(f"Hello, {name}!")

    async def do_test_input_required_result_sampling(self, arguments: Result, call: Call) -> Result:
        answer = (call.input_responses or {}).get("capital_question")
        if answer is None:
            return need({"capital_question": sample("What is the capital of France?", 100)})
        return text(json.dumps(answer.get("content")))

    async def do_test_input_required_result_list_roots(self, arguments: Result, call: Call) -> Result:
        answer = (call.input_responses or {}).get("client_roots")
        if answer is None:
            return need({"client_roots": ROOTS})
        return text(json.dumps(answer.get("roots")))

    async def do_test_input_required_result_request_state(self, arguments: Result, call: Call) -> Result:
        if not (call.input_responses or {}).get("confirm"):
            question = elicit("Please confirm", ok={"type": "boolean"})
            return need({"confirm": question}, seal({"tool": "request_state"}))
        unseal(call.request_state)
        return text("state-ok")

    async def do_test_input_required_result_multiple_inputs(self, arguments: Result, call: Call) -> Result:
        questions = {
            "user_name": elicit("What is your name?", name=STRING),
            "greeting": sample("Generate a greeting", 50),
            "client_roots": ROOTS,
        }
        answers = call.input_responses or {}
        if not questions.keys() <= answers.keys():
            return need({key: value for key, value in questions.items() if key not in answers}, seal({"tool": "many"}))
        unseal(call.request_state)
        return text(json.dumps(answers))

    async def do_test_input_required_result_multi_round(self, arguments: Result, call: Call) -> Result:
        answers = call.input_responses or {}
        if not answers or call.request_state is None:
            return need({"step1": elicit("Step 1: What is your name?", name=STRING)}, seal({"step": 1}))
        state = unseal(call.request_state)
        if state["step"] == 1 and "step1" in answers:
            return need({"step2": elicit("Step 2: What is your favorite color?", color=STRING)}, seal({"step": 2}))
        return text("All steps are done.")

    async def do_test_input_required_result_tampered_state(self, arguments: Result, call: Call) -> Result:
        if call.request_state is None:
            return need({"confirm": elicit("Please confirm", ok={"type": "boolean"})}, seal({"tool": "tampered"}))
        unseal(call.request_state)
        return text("state-ok")

    async def do_test_input_required_result_capabilities(self, arguments: Result, call: Call) -> Result:
        known = {
            "elicitation": {"user_name": elicit("What is your name?", name=STRING)},
            "sampling": {"greeting": sample("Generate a greeting", 50)},
            "roots": {"client_roots": ROOTS},
        }
        questions = {
            key: value
            for word, asked in known.items()
            if word in call.client_capabilities
            for key, value in asked.items()
        }
        if not questions or call.input_responses:
            return text("Nothing to ask.")
        return need(questions)

    async def read_resource(self, uri: str, call: Call) -> Result:
        fresh = {"ttlMs": 60_000, "cacheScope": "public"}
        if uri == "test://static-text":
            words = "This is the content of the static text resource."
            return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": words}], **fresh}
        if uri == "test://static-binary":
            return {"contents": [{"uri": uri, "mimeType": "image/png", "blob": PNG}], **fresh}
        if uri == "test://watched-resource":
            return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": "Watched."}], **fresh}
        number = uri.removeprefix("test://template/").removesuffix("/data")
        if uri != f"test://template/{number}/data" or not number or "/" in number:
            raise NotFound(uri)
        data = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": data}], **fresh}

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> Result:
        if name == "test_simple_prompt":
            return message({"type": "text", "text": "This is a simple prompt for testing."})
        if name == "test_prompt_with_arguments":
            if not {"arg1", "arg2"} <= arguments.keys():
                raise ProtocolError(INVALID_PARAMS, "The prompt needs arg1 and arg2")
            words = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
            return message({"type": "text", "text": words})
        if name == "test_prompt_with_embedded_resource":
            uri = arguments.get("resourceUri", "test://example-resource")
            return message(
                embedded(uri, "text/plain", "Embedded resource content for testing."),
                {"type": "text", "text": "Please process the embedded resource above."},
            )
        if name == "test_prompt_with_image":
            return message(IMAGE, {"type": "text", "text": "Please analyze the image above."})
        if name == "test_input_required_result_prompt":
            answer = (call.input_responses or {}).get("user_context")
            if answer is None:
                return need({"user_context": elicit("What context should the prompt use?", context=STRING)})
            return message({"type": "text", "text": json.dumps(answer.get("content"))})
        raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}")

    async def complete(self, ref: Result, argument: Result, context: Result) -> Result:
        values = [word for word in ("paris", "park", "party") if word.startswith(argument["value"])]
        return {"values": values, "total": len(values), "hasMore": False}


def message(*blocks: Result) -> Result:
    """A prompt of one message a block, all from the user."""
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


def catalogue() -> Catalogue:
    """The catalogue of the suite, with everything declared that can be declared."""
    names = [name.removeprefix("do_") for name in vars(Fixtures) if name.startswith("do_")]
    tools = []
    for name in names:
        schema: Result = {"type": "object", "properties": ARGUMENTS.get(name, {}), "additionalProperties": False}
        if name == "json_schema_2020_12_tool":
            schema = SCHEMA_2020
        tools.append({"name": name, "description": f"Fixture {name}.", "inputSchema": schema})
    resources = [
        {"uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource", "mimeType": "text/plain"},
    ]
    templates = [{"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}]
    arguments: dict[str, list[str]] = {
        "test_simple_prompt": [],
        "test_prompt_with_arguments": ["arg1", "arg2"],
        "test_prompt_with_embedded_resource": ["resourceUri"],
        "test_prompt_with_image": [],
        "test_input_required_result_prompt": [],
    }
    prompts = [
        {
            "name": name,
            "description": f"Fixture {name}.",
            "arguments": [{"name": key, "required": True} for key in keys],
        }
        for name, keys in arguments.items()
    ]
    return Catalogue(
        name="specloom-fixtures",
        version="1",
        tools=json.dumps(tools).encode(),
        tool_names=frozenset(names),
        resources=json.dumps(resources).encode(),
        resource_templates=json.dumps(templates).encode(),
        prompts=json.dumps(prompts).encode(),
        completions=True,
        logging=True,
        subscribe=("",),
        list_changed=frozenset({"tools", "prompts"}),
    )


if __name__ == "__main__":
    if "sdk" in sys.argv:
        from specloom.server.sdk_host import serve_sdk

        sys.exit(serve_sdk(catalogue(), Fixtures))
    if "http" in sys.argv:
        from specloom.http.app import HttpApp
        from specloom.http.gate import Caller, OpenGate
        from specloom.http.serve import bind, run
        from specloom.http.service import HttpService
        from specloom.http.settings import read_settings

        class Engine:
            def make_backend(self, caller: Caller) -> Backend:
                return Fixtures()

            async def aclose(self) -> None:
                """Nothing is open."""

        settings = read_settings({}, sys.argv[2])
        service = HttpService(catalogue(), Engine)
        sys.exit(asyncio.run(run(service, settings, HttpApp(service, settings, OpenGate("")), bind(settings))))
    from specloom.server.stdio import serve_stdio

    sys.exit(serve_stdio(catalogue(), Fixtures))
