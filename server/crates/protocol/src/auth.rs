//! `azimuth/auth/*`: the accounts that Azimuth keeps, and signing in. No key or token is in any of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::SwitchReason;

/// Parameters of `azimuth/auth/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthListParams {}

/// Result of `azimuth/auth/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthListResult {
    /// The accounts. Of several at one provider, the first that can be used counts, and other keys stand in for a key
    /// that rests.
    pub accounts: Vec<Account>,
    /// The providers that can be signed in to.
    pub providers: Vec<SignInProvider>,
    /// The source of the key of each provider that has one, as `azimuth auth status` tells it.
    #[serde(default)]
    pub keys: Vec<KeyStatus>,
    /// The providers for which a key can be kept, by their names.
    #[serde(default)]
    pub key_providers: Vec<KeyProvider>,
}

/// A provider for which a key can be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyProvider {
    /// The provider, such as `openai`.
    pub provider: String,
    /// Its name, to be shown.
    pub title: String,
}

/// The source of a provider's key. Only this one counts, even if there are others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyStatus {
    /// The provider, such as `anthropic`.
    pub provider: String,
    /// The source, to be shown: `the environment variable ANTHROPIC_API_KEY`.
    pub source: String,
    /// The environment variable, if the key comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The name of the account, if the key comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The keys and accounts of which requests use one, in their order, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<KeyMember>,
}

/// A key or an account of several at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyMember {
    /// Its name: a variable, or the name of an account.
    pub name: String,
    /// True if it is an account that Azimuth keeps.
    pub is_account: bool,
    /// True if a new session would begin with it now.
    pub in_use: bool,
    /// The time until which it is not used if another one can be, in milliseconds since 1970; absent if it does not
    /// rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_until: Option<u64>,
    /// Why it rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SwitchReason>,
}

/// A key or a sign-in that is kept for a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The provider, such as `chatgpt`.
    pub provider: String,
    /// The user's name for the account, which tells it from others at the provider.
    pub label: String,
    /// The account at the vendor, such as an e-mail address, if the vendor says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The server that it is for: scheme, host and port.
    pub server: String,
    /// Its kind.
    pub kind: AccountKind,
    /// True if the vendor has ended the sign-in, so that the user has to sign in again.
    pub ended: bool,
}

/// The kind of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AccountKind {
    /// An API key.
    Key,
    /// A sign-in.
    SignIn,
}

/// A provider that can be signed in to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInProvider {
    /// The provider, such as `chatgpt`.
    pub provider: String,
    /// Its name, to be shown.
    pub title: String,
    /// The ways to sign in, the best first.
    pub ways: Vec<SignInWay>,
}

/// A way to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SignInWay {
    /// By a browser on this machine, which comes back to a port that is open until then. Its address can be pasted too.
    Browser,
    /// By a browser on any machine, whose last address is pasted. No port is opened.
    Paste,
    /// By a code that the user types on any device.
    Device,
}

/// Parameters of `azimuth/auth/login`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthLoginParams {
    /// The provider, such as `chatgpt`.
    pub provider: String,
    /// The way.
    pub way: SignInWay,
    /// The user's name for the account; `default` without one. An account of this name is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Result of `azimuth/auth/login`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLoginResult {
    /// The number of the sign-in, for what follows.
    pub login_id: u64,
    /// The page that the user opens.
    pub url: String,
    /// The code that the user types there, if the way is `device`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_code: Option<String>,
    /// The beginning of the address that the browser ends at, which can be pasted; absent if the way is `device`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// Parameters of `azimuth/auth/wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthWaitParams {
    /// The sign-in.
    pub login_id: u64,
}

/// Result of `azimuth/auth/wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthWaitResult {
    /// The account that is kept now.
    pub account: Account,
}

/// Parameters of `azimuth/auth/paste`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthPasteParams {
    /// The sign-in.
    pub login_id: u64,
    /// The whole address that the browser ended at.
    pub address: String,
}

/// Parameters of `azimuth/auth/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthCancelParams {
    /// The sign-in. It is harmless if it has ended.
    pub login_id: u64,
}

/// Parameters of `azimuth/auth/keep`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthKeepParams {
    /// The provider, such as `openai`.
    pub provider: String,
    /// The user's name for the account; `default` without one. An account of this name is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The API key. It goes into the file of accounts, and to its vendor.
    pub key: String,
    /// True if the vendor is not asked about the key first, as after its refusal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
}

impl fmt::Debug for AuthKeepParams {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthKeepParams").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// Result of `azimuth/auth/keep`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthKeepResult {
    /// The account that is kept now.
    pub account: Account,
    /// The source that counts instead, to be shown: a key of the settings or the environment; absent if it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused_because: Option<String>,
    /// The finding about the key; absent if the vendor was not asked. A key that it refuses is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<KeyCheck>,
}

/// A finding about a key, of its vendor's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyCheck {
    /// The finding.
    pub state: KeyState,
    /// The same for the user, as a whole sentence, with the vendor's own words if it said any.
    pub words: String,
}

/// A vendor's word about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyState {
    /// It takes it: it tells its credit, or lists its models with the key and not without.
    Taken,
    /// It does not know the key, or has ended the sign-in.
    Refused,
    /// It knows the key, and does not list its models for it.
    Forbidden,
    /// Nothing is known: it could not be asked, has no list, or lists its models to whoever asks.
    Unknown,
}

/// Parameters of `azimuth/auth/logout`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthLogoutParams {
    /// The provider.
    pub provider: String,
    /// The account's name; every account of the provider without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Result of `azimuth/auth/logout`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLogoutResult {
    /// The accounts that were forgotten.
    pub removed: Vec<RemovedAccount>,
}

/// An account that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedAccount {
    /// The account's name.
    pub label: String,
    /// Why the vendor could not be told that the sign-in has ended, to be shown; absent if it knows, or need not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_revoked: Option<String>,
}
