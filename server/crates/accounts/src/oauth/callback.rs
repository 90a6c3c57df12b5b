//! The server that a browser is sent back to: a port of this machine that is open while somebody signs in.
//!
//! Anything on this machine, and any web page, can send a request to it. So one counts only with the secret `state` of
//! the sign-in; others are answered, and the wait goes on.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use net::Url;
use providers::Secret;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::OAuthError;
use super::token::tidy;
use crate::vendor::Vendor;

/// The most bytes of a request's head.
const HEAD: usize = 16 * 1024;
/// The time in which a connection must say what it wants. Browsers open some that they do not use.
const SILENCE: Duration = Duration::from_secs(30);
/// The time in which a browser takes in the page. The sign-in goes on without it.
const SHOWING: Duration = Duration::from_secs(3);
/// The time in which a port that is in use may become free.
const IN_USE: Duration = Duration::from_millis(500);
/// The most connections at a time.
const CONNECTIONS: usize = 32;

/// The open port. It is closed, with all of its connections, when this is dropped: a connection that a browser keeps
/// would bring the callback of the next sign-in to this one.
#[derive(Debug)]
pub(super) struct Callback {
    port: u16,
    answers: mpsc::Receiver<Result<Granted, String>>,
    server: JoinHandle<()>,
}

/// The vendor's answer by way of the browser: the user consents.
#[derive(Debug, PartialEq, Eq)]
pub struct Granted {
    pub(super) code: Secret,
    /// The id of the client that was registered, if one was.
    pub(super) client_id: Option<String>,
}

impl Granted {
    fn new(code: &str, client_id: Option<String>) -> Self {
        Self { code: Secret::new(code), client_id }
    }

    /// The id of the client that was registered, if one was.
    pub(crate) fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }
}

/// The client whose id a callback brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    /// None; that of the request counts.
    Ours,
    /// Perhaps that of the client that was registered before.
    Known,
    /// That of the client which is being registered.
    Registered,
}

/// The meaning of a callback.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The user consents.
    Granted(Granted),
    /// The user or the vendor does not; in the vendor's words.
    Refused(String),
    /// It belongs to no sign-in, or to another.
    OfAnother,
    /// Something is missing in it.
    Incomplete,
}

impl Callback {
    /// Opens the port that the vendor wants, or a free one.
    pub(super) async fn open(vendor: &Vendor, state: &str, client: Client) -> Result<Self, OAuthError> {
        let wanted = vendor.redirect_port.unwrap_or_default();
        let until = Instant::now() + IN_USE;
        let listener = loop {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).await {
                Ok(listener) => break listener,
                Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
                    return Err(OAuthError::NoCallback(error));
                }
                // A sign-in that has just ended closes its port in a moment.
                Err(_) if Instant::now() < until => tokio::time::sleep(IN_USE / 10).await,
                Err(_) => return Err(OAuthError::PortInUse(wanted, vendor.title.clone())),
            }
        };
        let port = listener.local_addr().map_err(OAuthError::NoCallback)?.port();
        let (sender, answers) = mpsc::channel(1);
        let expected = Expected {
            base: format!("http://127.0.0.1:{port}"),
            path: vendor.redirect_path().to_owned(),
            state: state.to_owned(),
            client,
            title: vendor.title.clone(),
        };
        let server = tokio::spawn(serve(listener, expected, sender));
        Ok(Self { port, answers, server })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The answer, once the browser brings it; none if the server failed.
    pub(super) async fn answer(&mut self) -> Option<Result<Granted, String>> {
        self.answers.recv().await
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Reads a callback's address.
pub(super) fn read(url: &Url, state: &str, client: Client) -> Answer {
    let field = |name: &str| {
        let mut found = url.query_pairs().filter(|(known, value)| known == name && !value.trim().is_empty());
        // Said twice, it could be read in two ways.
        let value = found.next().map(|(_, value)| value.into_owned());
        value.filter(|_| found.next().is_none())
    };
    if field("state").as_deref() != Some(state) {
        return Answer::OfAnother;
    }
    if let Some(error) = field("error") {
        return Answer::Refused(tidy(&error, field("error_description").as_deref()));
    }
    let named = field("client_id").filter(|_| client != Client::Ours);
    match field("code") {
        Some(code) if named.is_some() || client != Client::Registered => Answer::Granted(Granted::new(&code, named)),
        _ => Answer::Incomplete,
    }
}

/// The marks of the right callback.
#[derive(Clone, Debug)]
struct Expected {
    base: String,
    path: String,
    state: String,
    client: Client,
    title: String,
}

async fn serve(listener: TcpListener, expected: Expected, sender: mpsc::Sender<Result<Granted, String>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if connections.len() < CONNECTIONS => {
                    let (expected, sender) = (expected.clone(), sender.clone());
                    connections.spawn(async move {
                        if let Some(answer) = answer(stream, &expected).await {
                            // Only the first counts.
                            let _ = sender.try_send(answer);
                        }
                    });
                }
                Ok(_) => {}
                // Out of files, most likely; then it is no use to try at once.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers one request. The connection is closed behind it. Gives the sign-in's answer, if this was it.
async fn answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    expected: &Expected,
) -> Option<Result<Granted, String>> {
    let head = tokio::time::timeout(SILENCE, head(&mut stream)).await.ok()?.ok()?;
    let (status, page, answer) = judge(head.as_deref().unwrap_or_default(), expected);
    let body = html(&page);
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\r\n{body}",
        body.len()
    );
    let show = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    };
    // A browser that does not read the page has brought the answer all the same.
    let _ = tokio::time::timeout(SHOWING, show).await;
    answer
}

/// The head of a request; none if it is too long.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await?;
        if read == 0 || head.len() + read > HEAD {
            return Ok(None);
        }
        head.extend_from_slice(buffer.get(..read).unwrap_or_default());
    }
    Ok(String::from_utf8(head).ok())
}

/// The status and the page for a request with this head, and the sign-in's answer if it is that.
fn judge(head: &str, expected: &Expected) -> (&'static str, Page, Option<Result<Granted, String>>) {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    // A name of another's that leads to this machine is a web page's attempt to read what is answered.
    // The port that is usual for `http` is not named (RFC 9110, 4.2.3).
    let is_ours = |host: &str| [format!("http://{host}"), format!("http://{host}:80")].contains(&expected.base);
    if !host.is_some_and(is_ours) {
        return ("421 Misdirected Request", Page::Foreign, None);
    }
    let url = Url::parse(&format!("{}{target}", expected.base)).ok();
    let url = url.filter(|url| target.starts_with('/') && url.path() == expected.path);
    let Some(url) = url else { return ("404 Not Found", Page::Foreign, None) };
    if method != "GET" {
        return ("405 Method Not Allowed", Page::Foreign, None);
    }
    match read(&url, &expected.state, expected.client) {
        Answer::Granted(granted) => ("200 OK", Page::Done(expected.title.clone()), Some(Ok(granted))),
        Answer::Refused(said) => ("200 OK", Page::Refused(expected.title.clone()), Some(Err(said))),
        Answer::OfAnother => ("400 Bad Request", Page::OfAnother, None),
        Answer::Incomplete => ("400 Bad Request", Page::Foreign, None),
    }
}

/// The page that the browser shows. Nothing of the request is in it.
#[derive(Debug, PartialEq, Eq)]
enum Page {
    Done(String),
    Refused(String),
    OfAnother,
    Foreign,
}

fn html(page: &Page) -> String {
    let (title, text) = match page {
        Page::Done(vendor) => {
            ("Signed in", format!("Azimuth has {}'s answer. You can close this window.", escaped(vendor)))
        }
        Page::Refused(vendor) => {
            let text = format!("{} refused. Azimuth says more. You can close this window.", escaped(vendor));
            ("Not signed in", text)
        }
        Page::OfAnother => {
            let text = "This page belongs to another sign-in. Use the address that Azimuth showed last.";
            ("Not signed in", text.to_owned())
        }
        Page::Foreign => ("Nothing here", "Azimuth waits here for a sign-in.".to_owned()),
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Azimuth: {title}</title><style>\
         body{{font-family:system-ui,sans-serif;margin:20vh auto;max-width:32rem;text-align:center;\
         color-scheme:light dark}}</style></head><body><h1>{title}</h1><p>{text}</p></body></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expected {
        Expected {
            base: "http://127.0.0.1:1455".into(),
            path: "/auth/callback".into(),
            state: "right".into(),
            client: Client::Ours,
            title: "A <b>".into(),
        }
    }

    fn ask(target: &str) -> (&'static str, Page, Option<Result<Granted, String>>) {
        judge(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:1455\r\n\r\n"), &expected())
    }

    #[test]
    fn only_the_callback_of_this_sign_in_counts() {
        let (status, page, answer) = ask("/auth/callback?code=c&state=right");
        assert_eq!((status, answer), ("200 OK", Some(Ok(Granted::new("c", None)))));
        assert!(html(&page).contains("close this window") && html(&page).contains("A &lt;b&gt;"));
        for (target, status) in [
            ("/auth/callback?code=c&state=wrong", "400 Bad Request"),
            ("/auth/callback?code=c", "400 Bad Request"),
            ("/auth/callback?code=c&state=right&state=right", "400 Bad Request"),
            ("/auth/callback?state=right", "400 Bad Request"),
            ("/auth/callback?error=access_denied", "400 Bad Request"),
            ("/favicon.ico", "404 Not Found"),
            ("/auth/callback/../x?code=c&state=right", "404 Not Found"),
            ("http://127.0.0.1:1455/auth/callback?code=c&state=right", "404 Not Found"),
            ("*", "404 Not Found"),
            ("", "404 Not Found"),
        ] {
            let (said, page, answer) = ask(target);
            assert_eq!((said, answer), (status, None), "{target}");
            assert!(!html(&page).contains("code"), "{target}");
        }
        for head in [
            "POST /auth/callback?code=c&state=right HTTP/1.1\r\nHost: 127.0.0.1:1455\r\n\r\n",
            "GET /auth/callback?code=c&state=right HTTP/1.1\r\nHost: evil.example:1455\r\n\r\n",
            "GET /auth/callback?code=c&state=right HTTP/1.1\r\n\r\n",
            "",
        ] {
            assert_eq!(judge(head, &expected()).2, None, "{head}");
        }
    }

    #[tokio::test]
    async fn a_browser_that_does_not_wait_for_the_page_has_brought_the_answer() {
        let (mut browser, server) = tokio::io::duplex(1024);
        let head = "GET /auth/callback?code=c&state=right HTTP/1.1\r\nHost: 127.0.0.1:1455\r\n\r\n";
        browser.write_all(head.as_bytes()).await.unwrap();
        drop(browser);
        assert_eq!(answer(server, &expected()).await, Some(Ok(Granted::new("c", None))));
    }

    #[test]
    fn browsers_leave_the_usual_port_out() {
        let usual = Expected { base: "http://127.0.0.1:80".into(), ..expected() };
        for (host, status) in [
            ("127.0.0.1", "200 OK"),
            ("127.0.0.1:80", "200 OK"),
            ("127.0.0.1:8", "421 Misdirected Request"),
            ("localhost", "421 Misdirected Request"),
            ("", "421 Misdirected Request"),
        ] {
            let head = format!("GET /auth/callback?code=c&state=right HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(judge(&head, &usual).0, status, "{host}");
        }
        let head = "GET /auth/callback?code=c&state=right HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        assert_eq!(judge(head, &expected()).0, "421 Misdirected Request");
    }

    #[test]
    fn a_refusal_is_told_in_the_vendors_words_but_without_secrets() {
        let target =
            "/auth/callback?state=right&error=access_denied&error_description=Not+allowed%0d%0aby+sk-0123456789abcdef";
        let (_, page, answer) = ask(target);
        assert_eq!(answer, Some(Err("Not allowed by … (access_denied)".into())));
        assert!(!html(&page).contains("allowed"));
    }

    #[test]
    fn a_registered_client_is_named_in_the_callback() {
        let read = |query: &str, client| {
            read(&Url::parse(&format!("http://127.0.0.1/cb?state=s&{query}")).unwrap(), "s", client)
        };
        let granted = |client: Option<&str>| Answer::Granted(Granted::new("c", client.map(str::to_owned)));
        assert_eq!(read("code=c&client_id=app_1", Client::Registered), granted(Some("app_1")));
        assert_eq!(read("code=c", Client::Registered), Answer::Incomplete);
        assert_eq!(read("code=c&client_id=", Client::Registered), Answer::Incomplete);
        assert_eq!(read("code=c", Client::Known), granted(None));
        assert_eq!(read("code=c&client_id=app_2", Client::Known), granted(Some("app_2")));
        assert_eq!(read("code=c&client_id=app_2", Client::Ours), granted(None));
    }
}
