"""Makes signed.json: requests, and the signatures that others give them.

    pip install --target lib botocore==1.44.5
    cargo fetch   # of any package that depends on aws-sigv4 =1.6.4, for AWS's own examples
    PYTHONPATH=lib python3 signed.py ~/.cargo/registry/src/*/aws-sigv4-1.6.4/aws-signing-test-suite/v4 > signed.json

The test fails if an address is not already in the form in which it is sent, so both sign the same.
"""

import datetime
import json
import pathlib
import sys

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

ACCESS, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
HOST = "https://bedrock-runtime.eu-central-1.amazonaws.com"
LONG = "https://bedrock-mantle.us-east-1.api.aws"
JSON = ["content-type", "application/json"]
MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2"

# Name, method, address, headers, body, token.
REQUESTS = [
    ("a model's id with a colon", "POST", f"{HOST}/model/{MODEL}/invoke", [JSON], '{"a":1}', None),
    ("the same, encoded", "POST", f"{HOST}/model/{MODEL.replace(':', '%3A')}/invoke", [JSON], '{"a":1}', None),
    ("an ARN", "POST", f"{HOST}/model/{ARN.replace('/', '%2F')}/converse", [JSON], "{}", "token/+=="),
    ("a percent sign", "GET", f"{HOST}/100%25/%2525", [], "", None),
    ("blanks", "GET", f"{HOST}/a%20b/%20", [], "", None),
    ("letters of other scripts", "GET", f"{HOST}/gr%C3%B6%C3%9Fe/%E6%A8%A1%E5%9E%8B/%F0%9F%A6%80", [], "", None),
    ("small hexadecimal digits", "GET", f"{HOST}/%c3%b6", [], "", None),
    ("what is no encoding", "GET", f"{HOST}/100%/%zz", [], "", None),
    ("signs in a path", "GET", f"{HOST}/!$&'()*+,;=:@-._~[]|", [], "", None),
    ("slashes", "GET", f"{HOST}//a///b//", [], "", None),
    ("a path that ends", "GET", f"{HOST}/a/", [], "", None),
    ("no path", "GET", f"{HOST}/", [], "", None),
    ("a query", "GET", f"{HOST}/p?b=2&a=1&a=0&B=&c", [], "", None),
    ("an encoded query", "GET", f"{HOST}/p?%C3%B6=%E6%A8%A1&x=%20y%2F%3A%25&X=~-._", [], "", "t"),
    ("names that sort by their encoding", "GET", f"{HOST}/p?a=1&a%2Fb=2&a-b=3&aa=4", [], "", None),
    ("a port", "POST", "http://127.0.0.1:8123/v1/messages", [JSON], "x", None),
    ("the usual port", "POST", "http://127.0.0.1/v1/messages", [JSON], "x", None),
    ("an address of IPv6", "POST", "http://[::1]:8123/v1/messages", [JSON], "x", None),
    ("another service", "POST", f"{LONG}/anthropic/v1/messages", [JSON], '{"model":"größe 🦀"}', "t"),
    (
        "headers",
        "POST",
        f"{HOST}/openai/v1/responses",
        [JSON, ["X-B", "  two   words\t and  more "], ["x-a", "1"], ["x-a", "0"], ["X-Empty", ""], ["x-ab", '"a  b"']],
        "{}",
        "t",
    ),
    ("headers that are not signed", "POST", f"{HOST}/a", [["user-agent", "azimuth/1"], ["te", "trailers"]], "x", None),
    ("a body of many lines", "POST", f"{HOST}/a", [], "ab\n" * 50, None),
]


def scope(url):
    if "bedrock-mantle" in url:
        return "bedrock-mantle", "us-east-1"
    return "bedrock", "eu-central-1"


def of_botocore(name, method, url, headers, body, token):
    at = datetime.datetime(2026, 2, 28, 23, 59, 59, tzinfo=datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda: at
    request = AWSRequest(method=method, url=url, data=body.encode())
    for key, value in headers:
        request.headers[key] = value
    service, region = scope(url)
    botocore.auth.SigV4Auth(Credentials(ACCESS, SECRET, token), service, region).add_auth(request)
    entry = {"name": name, "method": method, "url": url, "headers": headers, "body": body, "token": token}
    entry |= {"at": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "service": service, "region": region}
    return entry | {"authorization": request.headers["Authorization"]}


def of_aws(folder):
    if not (folder / "context.json").exists():
        return None
    context = json.loads((folder / "context.json").read_text())
    token = context["credentials"].get("token")
    # The variants that are kept apart are those of S3, and of tokens that are added after the signature.
    if not context.get("normalize", True) or context.get("omit_session_token") or context.get("sign_body"):
        return None
    head, _, body = (folder / "request.txt").read_text().partition("\n\n")
    first, *lines = head.split("\n")
    # A line that goes on from the one above is no header of HTTP any more.
    if any(line.startswith((" ", "\t")) for line in lines):
        return None
    method, target = first.removesuffix(" HTTP/1.1").split(" ", 1)
    # Paths of these examples are encoded once, by whoever signs; those that are sent are encoded already.
    if "%" in (path := target.partition("?")[0]) or not path.isascii():
        return None
    headers = [line.split(":", 1) for line in lines if line]
    host = next(value for key, value in headers if key.lower() == "host").strip()
    headers = [[key, value] for key, value in headers if key.lower() not in ("host", "x-amz-date")]
    signed = (folder / "header-signed-request.txt").read_text().split("\n")
    signed = next(line for line in signed if line.lower().startswith("authorization:")).split(":", 1)[1].strip()
    entry = {"name": folder.name, "method": method, "url": f"https://{host}{target}", "headers": headers, "body": body}
    entry |= {"token": token, "at": context["timestamp"], "service": context["service"], "region": context["region"]}
    return entry | {"authorization": signed}


published = [of_aws(folder) for folder in sorted(pathlib.Path(sys.argv[1]).iterdir())]
made = {
    "access_key": ACCESS,
    "secret_key": SECRET,
    "published": [entry for entry in published if entry],
    "botocore": [of_botocore(*request) for request in REQUESTS],
}
json.dump(made, sys.stdout, ensure_ascii=False, indent=1)
print()
