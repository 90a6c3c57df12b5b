// An OAuth 2 server that others wrote, oauth2-mock-server, as a second opinion on signing in. Its first line is its
// address. Each line of its input names what is to be different about the next answer, and is repeated once that is
// arranged. When the input ends, it prints the requests that it took, and goes.

import { createServer } from "node:http";
import process from "node:process";
import { createInterface } from "node:readline";
import { OAuth2Issuer, OAuth2Service } from "oauth2-mock-server";

const issuer = new OAuth2Issuer();
await issuer.keys.generate("RS256");
const service = new OAuth2Service(issuer);
const taken = [];
const server = createServer((request, response) => {
  // Whoever reads to the end of the connection would wait for it otherwise.
  response.shouldKeepAlive = false;
  const entry = { path: new URL(request.url, issuer.url).pathname };
  taken.push(entry);
  const given = ({ body }, { body: asked }) => Object.assign(entry, { asked: { ...asked }, given: body });
  service.once("beforeResponse", given);
  response.on("finish", () => {
    service.off("beforeResponse", given);
    entry.status = response.statusCode;
  });
  service.requestHandler(request, response);
});

const page = (change) => service.once("beforeAuthorizeRedirect", ({ url: { searchParams } }) => change(searchParams));
const answer = (change) => service.once("beforeResponse", change);
// Each answer has two tokens, and the second is the one that says who signed in.
const token = (change) => {
  service.on("beforeTokenSigning", change);
  service.once("beforeResponse", () => service.off("beforeTokenSigning", change));
};
const different = {
  "no consent": () => page((query) => (query.delete("code"), query.set("error", "access_denied"))),
  "another state": () => page((query) => query.set("state", "another")),
  "another issuer": () => token(({ payload }) => (payload.iss = "https://other.example")),
  "another program": () => token(({ payload }) => (payload.aud = "another")),
  "another sign-in": () => token(({ payload }) => (payload.nonce = "another")),
  "long ago": () => token(({ payload }) => (payload.exp = 1_000)),
  "another key": () => token(({ header }) => (header.kid = "another")),
  "no id token": () => answer(({ body }) => delete body.id_token),
  "no token": () => answer(({ body }) => delete body.access_token),
  "another kind": () => answer(({ body }) => (body.token_type = "mac")),
  "a text": () => answer((response) => (response.body = "hunter2")),
  "away": () => answer((response) => Object.assign(response, { statusCode: 503, body: {} })),
  "ended": () => answer((response) => Object.assign(response, { statusCode: 400, body: { error: "invalid_grant" } })),
  "over": () => answer(({ body }) => (body.expires_in = 0)),
  "over, and the old refresh token stays": () =>
    answer(({ body }) => {
      body.expires_in = "0";
      delete body.refresh_token;
    }),
  "not revoked": () => service.once("beforeRevoke", (response) => (response.statusCode = 503)),
};

server.listen(0, "127.0.0.1", () => {
  issuer.url = `http://127.0.0.1:${server.address().port}`;
  console.log(issuer.url);
});
createInterface({ input: process.stdin })
  .on("line", (name) => {
    different[name]();
    console.log(name);
  })
  .on("close", () => {
    console.log(JSON.stringify(taken));
    server.close();
  });
