//! Signs requests with the user's credentials, and says when a refused one is worth another try.

use std::sync::Arc;
use std::time::SystemTime;

use net::header::HeaderMap;

use super::chain::{Chain, CredentialsError};
use super::credentials::Credentials;
use super::sign::{Scope, SignError, Unsigned, sign};
use crate::Secret;
use crate::clock::Clock;

/// The header in which AWS names the kind of an error.
pub(crate) const ERROR_TYPE: &str = "x-amzn-errortype";

/// The service that hosts which are none of AWS's, such as gateways, are taken to stand for.
const USUAL_SERVICE: &str = "bedrock";

/// Signs requests. One for all requests of a provider, so that credentials are fetched once.
#[derive(Debug)]
pub(crate) struct Signer {
    chain: Chain,
    clock: Arc<Clock>,
}

/// A signature of a request.
#[derive(Debug)]
pub(crate) struct Signed {
    /// The headers that are sent with the request's own, and replace those of the same names.
    pub(crate) headers: HeaderMap,
    by: Credentials,
    at: SystemTime,
}

/// A request could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignerError {
    /// There are no credentials.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The request or the credentials cannot be sent.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// No region is known.
    #[error("no AWS region is known; set AWS_REGION, or `region` in the profile of the AWS config file")]
    NoRegion,
}

impl Signer {
    /// A signer with the credentials of a chain and the time of a clock.
    pub(crate) fn new(chain: Chain, clock: Arc<Clock>) -> Self {
        Self { chain, clock }
    }

    /// Signs a request, for the service and region of its host; for a host that is none of Bedrock's, for `bedrock` in
    /// the user's region.
    ///
    /// # Errors
    /// [`SignerError`]: there are no credentials or no region, or they cannot be sent; says what to do.
    pub(crate) async fn sign(&self, request: &Unsigned<'_>) -> Result<Signed, SignerError> {
        let by = self.chain.credentials().await?;
        let scope = match request.url.host_str().and_then(Scope::of_host) {
            Some(scope) => scope,
            None => {
                let region = self.chain.region().await.ok_or(SignerError::NoRegion)?;
                Scope { service: USUAL_SERVICE.to_owned(), region }
            }
        };
        let at = self.clock.now();
        Ok(Signed { headers: sign(request, &scope, &by, at)?, by, at })
    }

    /// Takes in the head of an answer to a request that was signed so. True if it is worth signing and sending once
    /// more: it was refused because of this machine's clock, and the server's is known now; or because of the
    /// credentials, and there are others by now, such as when those that were kept had ended.
    pub(crate) async fn is_worth_another_try(&self, signed: &Signed, status: u16, headers: &HeaderMap) -> bool {
        if status == 403 && self.clock.learn(headers, signed.at) {
            return true;
        }
        // AWS knows credentials to which it denies access, so others of the same account would be no better.
        let is_known = headers.get(ERROR_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"AccessDenied"));
        if !matches!(status, 401 | 403) || is_known {
            return false;
        }
        self.chain.forget(&signed.by).await;
        self.chain.credentials().await.is_ok_and(|others| others != signed.by)
    }

    /// True if there are credentials, or a way to get them, and a region, without asking anybody. Blocks.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.chain.is_at_hand()
    }

    /// True if a program has to be run for credentials, which may ask its user for something.
    pub(crate) async fn needs_program(&self) -> bool {
        self.chain.needs_program().await
    }

    /// The region that is known without asking anybody. Blocks.
    pub(crate) fn region_at_hand(&self) -> Option<String> {
        self.chain.region_at_hand()
    }

    /// True if its keys are those of the environment, which no command renews.
    pub(crate) fn is_of_variables(&self) -> bool {
        self.chain.is_of_variables()
    }

    /// The name of what the credentials come from, for words.
    pub(crate) fn source_name(&self) -> String {
        self.chain.source_name()
    }
}

impl Signed {
    /// The parts that a server may repeat and that nobody else may see: AWS shows what it expected to be signed.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = Secret> {
        let Credentials { access_key, secret_key, session_token, .. } = &self.by;
        session_token.iter().chain([secret_key, access_key]).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use async_trait::async_trait;
    use net::header::HeaderValue;
    use net::{Clients, Url};

    use super::*;
    use crate::aws::RunProgram;
    use crate::aws::chain::Surroundings;
    use crate::loopback::server::{Answer, Asked, Server};

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    /// No test here has a program.
    struct NoPrograms;

    #[async_trait]
    impl RunProgram for NoPrograms {
        async fn output(&self, _words: &[String]) -> Result<Vec<u8>, String> {
            Err("there is none".to_owned())
        }

        fn is_users_own(&self, _file: &std::path::Path) -> bool {
            true
        }
    }

    fn signer(region: Option<&'static str>) -> Signer {
        let chain = Chain::new(Surroundings {
            lookup: Box::new(move |name| match name {
                "AWS_ACCESS_KEY_ID" => Some("AKIDEXAMPLE".to_owned()),
                "AWS_SECRET_ACCESS_KEY" => Some("hunter2".to_owned()),
                "AWS_REGION" => region.map(str::to_owned),
                _ => None,
            }),
            home: None,
            profile: None,
            run: Arc::new(NoPrograms),
            http: Arc::new(Clients::default()),
            now: Box::new(now),
            is_named: true,
        });
        Signer::new(chain, Arc::new(Clock::new(now)))
    }

    /// Sends a request as a provider does. Gives the status of the last answer.
    async fn send(signer: &Signer, url: &Url) -> u16 {
        let own = HeaderMap::from_iter([(net::header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let request = Unsigned { method: "POST", url, headers: &own, body: b"{}" };
        let client = Clients::default().direct().await.unwrap();
        let mut is_again = false;
        loop {
            let signed = signer.sign(&request).await.unwrap();
            let post = client.post(url.clone()).headers(own.clone()).headers(signed.headers.clone()).body("{}");
            let response = post.send().await.unwrap();
            let status = response.status().as_u16();
            if is_again || !signer.is_worth_another_try(&signed, status, response.headers()).await {
                return status;
            }
            is_again = true;
        }
    }

    /// Checks, as a server does, that what came in is what was signed, at this time.
    fn check(asked: &Asked, server: &Server, at: SystemTime) {
        let url = Url::parse(&format!("{}{}", server.url(), asked.path)).unwrap();
        let is_signed = |name: &str| asked.headers["authorization"].to_str().unwrap().contains(name);
        let own = asked.headers.iter().filter(|(name, _)| is_signed(name.as_str()));
        let own: HeaderMap = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let request = Unsigned { method: &asked.method, url: &url, headers: &own, body: asked.body.as_bytes() };
        let scope = Scope { service: "bedrock".into(), region: "eu-west-1".into() };
        let expected = sign(&request, &scope, &Credentials::new("AKIDEXAMPLE", "hunter2", None), at).unwrap();
        assert_eq!(asked.headers["authorization"], expected["authorization"]);
        assert!(is_signed("SignedHeaders=content-type;host;x-amz-date,"));
    }

    #[tokio::test]
    async fn a_request_that_is_refused_for_its_time_is_sent_once_more_with_the_servers_time() {
        let refused = || Answer::status(403, "{}").with_header("date", "Sun, 06 Nov 1994 09:49:37 GMT");
        let server = Server::start(vec![refused(), Answer::status(200, "{}"), Answer::status(200, "{}")]).await;
        let url = Url::parse(&format!("{}/model/eu.anthropic.claude-v1:0/invoke", server.url())).unwrap();
        let signer = signer(Some("eu-west-1"));
        assert_eq!(send(&signer, &url).await, 200);
        // The next request has the right time at once.
        assert_eq!(send(&signer, &url).await, 200);
        let asked = server.asked();
        assert_eq!(asked.len(), 3);
        let theirs = now() + Duration::from_secs(3_600);
        for (asked, at) in asked.iter().zip([now(), theirs, theirs]) {
            check(asked, &server, at);
        }
    }

    #[tokio::test]
    async fn a_request_that_is_refused_again_is_not_sent_a_third_time() {
        let refused =
            |hour| Answer::status(403, "{}").with_header("date", &format!("Sun, 06 Nov 1994 {hour}:49:37 GMT"));
        let server = Server::start(vec![refused("09"), refused("11"), Answer::status(200, "{}")]).await;
        let url = Url::parse(&server.url()).unwrap();
        assert_eq!(send(&signer(Some("eu-west-1")), &url).await, 403);
        assert_eq!(server.asked().len(), 2);
        // With the right time, a refusal has another reason.
        let server = Server::start(vec![refused("08"), Answer::status(200, "{}")]).await;
        let url = Url::parse(&server.url()).unwrap();
        assert_eq!(send(&signer(Some("eu-west-1")), &url).await, 403);
        assert_eq!(server.asked().len(), 1);
    }

    #[tokio::test]
    async fn a_host_of_bedrock_has_its_region_in_its_name_and_others_need_one() {
        let (headers, url) = (HeaderMap::new(), Url::parse("https://bedrock-mantle.us-east-1.api.aws/v1").unwrap());
        let request = Unsigned { method: "POST", url: &url, headers: &headers, body: b"" };
        let signed = signer(None).sign(&request).await.unwrap();
        let value = signed.headers["authorization"].to_str().unwrap();
        assert!(value.contains("/us-east-1/bedrock-mantle/aws4_request"), "{value}");
        let other = Url::parse("https://gateway.example").unwrap();
        let failure = signer(None).sign(&Unsigned { url: &other, ..request }).await.unwrap_err();
        assert_eq!(failure, SignerError::NoRegion);
    }
}
