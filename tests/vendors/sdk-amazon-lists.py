"""Asks the harness's model server for Amazon's lists of models and inference profiles by Amazon's own SDK.

It says the ids that it read as JSON. `sdk-amazon-lists.py URL` with AWS's variables for credentials; the story in
tests/tests/sdks.rs runs it.
"""

import json
import sys

import botocore.session
from botocore.config import Config

session = botocore.session.get_session()
settings = Config(retries={"total_max_attempts": 1}, proxies={})
bedrock = session.create_client("bedrock", region_name="eu-west-1", endpoint_url=sys.argv[1], config=settings)
models = bedrock.list_foundation_models(byOutputModality="TEXT")["modelSummaries"]
pages = bedrock.get_paginator("list_inference_profiles").paginate(typeEquals="SYSTEM_DEFINED")
profiles = [profile for page in pages for profile in page["inferenceProfileSummaries"]]
print(json.dumps([[model["modelId"] for model in models], [profile["inferenceProfileId"] for profile in profiles]]))
