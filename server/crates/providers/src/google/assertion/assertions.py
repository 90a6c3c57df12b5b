"""Makes assertions.json: the assertions by which service accounts ask for tokens, as google-auth makes them.

    pip install --target lib google-auth==2.62.2
    PYTHONPATH=lib python3 assertions.py ../testing/key.der > assertions.json

google-auth always names Google's own server of tokens; that of another file is set by hand.
"""

import base64
import datetime
import json
import sys

from google.auth import _helpers
from google.oauth2 import service_account

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
GOOGLE = "https://oauth2.googleapis.com/token"

# Email, id of the key, server of tokens, seconds since 1970.
ACCOUNTS = [
    ("robot@project.iam.gserviceaccount.com", "0123456789abcdef", GOOGLE, 1_795_000_000),
    ("robot@project.iam.gserviceaccount.com", None, GOOGLE, 1_795_000_000),
    ("robot@project.iam.gserviceaccount.com", "0123456789abcdef", GOOGLE, 0),
    ("größe+\"quoted\"@projekt.example", "a/b+c=", GOOGLE, 4_102_444_799),
    ("robot@project.iam.gserviceaccount.com", "k", "http://127.0.0.1:8123/token?a=b", 1_795_000_001),
]


def pem(der):
    text = base64.encodebytes(der).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}-----END PRIVATE KEY-----\n"


def assertion(key, email, key_id, token_uri, at):
    now = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).replace(tzinfo=None)
    _helpers.utcnow = lambda: now
    info = {"client_email": email, "private_key_id": key_id, "private_key": key, "token_uri": token_uri}
    credentials = service_account.Credentials.from_service_account_info(info, scopes=[SCOPE])
    if token_uri != GOOGLE:
        credentials = credentials.with_claims({"aud": token_uri})
    made = credentials._make_authorization_grant_assertion().decode()
    return {"email": email, "key_id": key_id, "token_uri": token_uri, "at": at, "assertion": made}


key = pem(open(sys.argv[1], "rb").read())
json.dump([assertion(key, *account) for account in ACCOUNTS], sys.stdout, ensure_ascii=False, indent=1)
print()
