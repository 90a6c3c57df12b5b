//! The prompts that a server is asked to keep in its cache for an hour.

use ports::model::Request;

use super::Target;

/// The models of Claude's that Bedrock keeps for five minutes only: those before the version 4.5 (the prices of pypi
/// `litellm` 1.109 have none for an hour).
const FOR_MINUTES: &[&str] = &["2", "v2", "3-", "instant", "opus-4-1", "opus-4-2025", "sonnet-4-2025"];
/// The domains of Bedrock's hosts.
const BEDROCK: &[&str] = &["amazonaws.com", "amazonaws.com.cn", "api.aws", "api.amazonwebservices.com.cn"];

/// True if the vendor is asked to keep the prompt for an hour. Bedrock refuses that for some models.
pub(crate) fn keeps_for_hour(target: &Target, request: &Request) -> bool {
    let is_able = !is_bedrocks(target.host.domain()) || at_bedrock(&target.model);
    request.cache_hour && target.compat.cache_hour == Some(true) && is_able
}

/// True if Bedrock can keep the prompts of a model with this id for an hour. Of a model whose name only its account
/// knows, that is not known.
pub(super) fn at_bedrock(model: &str) -> bool {
    let name = model.split_once("claude-").map(|(_, name)| name);
    name.is_some_and(|name| !FOR_MINUTES.iter().any(|old| name.starts_with(old)))
}

/// True if a host is Bedrock's, and no gateway of a user's at Amazon's.
fn is_bedrocks(host: &str) -> bool {
    let is_bedrock = |name: &str| ["bedrock-runtime", "bedrock-mantle"].iter().any(|known| name.starts_with(known));
    let below = |domain: &&str| host.strip_suffix(*domain)?.strip_suffix('.');
    BEDROCK.iter().find_map(below).is_some_and(|names| names.split('.').any(is_bedrock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bedrocks_hosts_are_known_by_their_domains() {
        for host in [
            "bedrock-runtime.eu-central-1.amazonaws.com",
            "bedrock-mantle.us-east-1.api.aws",
            "bedrock-runtime.cn-north-1.amazonaws.com.cn",
            "vpce-0a.bedrock-runtime.us-east-1.vpce.amazonaws.com",
        ] {
            assert!(is_bedrocks(host), "{host}");
        }
        for host in [
            "api.anthropic.com",
            "bedrock.notamazonaws.com",
            "bedrock.amazonaws.com.example",
            "a1.execute-api.us-east-1.amazonaws.com",
            "bedrock-gateway-123.us-east-1.elb.amazonaws.com",
            "amazonaws.com",
            "",
        ] {
            assert!(!is_bedrocks(host), "{host}");
        }
    }
}
