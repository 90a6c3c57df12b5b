//! Which models of the catalogues are taken for which of our providers, and how they are asked to think there.

/// A provider of ours, and where the catalogues have its models.
pub(super) struct Shelf {
    /// Its name in `providers.toml`.
    pub(super) provider: &'static str,
    /// Its file in the first catalogue, without `.json`; if none, the second alone says its models.
    pub(super) pi: Option<&'static str>,
    /// Its name in the second.
    pub(super) lite: &'static str,
    /// The beginning of its ids there.
    pub(super) lite_prefix: &'static str,
    /// True if an id may begin with a region and a dot.
    pub(super) has_regions: bool,
    wire: Wire,
    /// The beginnings of the ids that are taken; all if empty.
    only: &'static [&'static str],
    /// The texts in ids that are left out: models for another work than conversations with tools, and doubles.
    without: &'static [&'static str],
}

/// The wire that we speak with a provider, as far as it matters for thinking.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    Anthropic,
    /// Anthropic's, at a server that need be asked for nothing.
    AnthropicAlike,
    Responses,
    Gemini,
    Converse,
    Chat,
}

/// The way in which a model thinks, in the words of `models.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thinks {
    pub(super) way: &'static str,
    pub(super) levels: Vec<&'static str>,
    /// The name of `compat.thinking`.
    pub(super) ask: Option<&'static str>,
    /// True if its thinking must be sent back.
    pub(super) echo: bool,
}

/// The thinking of a model, as the first catalogue says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// Its levels, those only that are sent by their own names.
    pub(super) levels: Vec<&'static str>,
    /// True if it says anything of them.
    pub(super) has_map: bool,
    /// The name of its `thinkingFormat`.
    pub(super) format: Option<String>,
    pub(super) takes_effort: Option<bool>,
    pub(super) is_adaptive: bool,
    pub(super) echo: bool,
}

const fn shelf(provider: &'static str, pi: Option<&'static str>, lite: &'static str, wire: Wire) -> Shelf {
    Shelf { provider, pi, lite, lite_prefix: lite, has_regions: false, wire, only: &[], without: &[] }
}

/// All of them, in the order of the file. The other providers list their models with all that is known of them, or have
/// those of another one here.
pub(super) const SHELVES: &[Shelf] = &[
    Shelf { without: &["latest"], ..shelf("anthropic", Some("anthropic"), "anthropic", Wire::Anthropic) },
    Shelf {
        without: &["latest", "daybreak", "gpt-4", "o1", "cyber"],
        ..shelf("openai", Some("openai"), "openai", Wire::Responses)
    },
    Shelf {
        only: &[
            "anthropic/claude",
            "openai/gpt-",
            "google/gemini-",
            "deepseek/",
            "x-ai/",
            "mistralai/",
            "moonshotai/",
            "z-ai/",
            "minimax/",
            "qwen/qwen3",
        ],
        without: &[":", "gpt-3", "gpt-4", "image", "mixtral", "mistral-7b", "mistral-nemo", "saba", "voxtral", "guard"],
        ..shelf("openrouter", Some("openrouter"), "openrouter", Wire::Chat)
    },
    shelf("deepseek", Some("deepseek"), "deepseek", Wire::Chat),
    Shelf { without: &["safeguard"], ..shelf("groq", Some("groq"), "groq", Wire::Chat) },
    Shelf { without: &["labs-", "voxtral", "pixtral"], ..shelf("mistral", Some("mistral"), "mistral", Wire::Chat) },
    shelf("xai", Some("xai"), "xai", Wire::Chat),
    shelf("inception", None, "inception", Wire::Chat),
    Shelf {
        without: &["research", "computer-use", "robotics", "customtools"],
        ..shelf("gemini", Some("google"), "gemini", Wire::Gemini)
    },
    shelf("together", Some("together"), "together_ai", Wire::Chat),
    Shelf { without: &["-spot"], ..shelf("fireworks", Some("fireworks"), "fireworks_ai", Wire::Chat) },
    shelf("cerebras", Some("cerebras"), "cerebras", Wire::Chat),
    shelf("moonshot", Some("moonshotai"), "moonshot", Wire::Chat),
    shelf("zai", Some("zai"), "zai", Wire::Chat),
    shelf("minimax", Some("minimax"), "minimax", Wire::AnthropicAlike),
    shelf("qwen", None, "dashscope", Wire::Chat),
    Shelf {
        without: &["diffusion", "cosmos", "7b-instruct", "llama-3"],
        ..shelf("nvidia", Some("nvidia"), "nvidia_nim", Wire::Chat)
    },
    // Those of Anthropic and OpenAI there have the facts of their vendors, with a region's price. Others cost in the
    // United States as they do without a region, and elsewhere have prices of their own.
    Shelf {
        lite_prefix: "bedrock",
        has_regions: true,
        without: &[
            "anthropic.",
            "openai.",
            "us.",
            "eu.anthropic.",
            "eu.openai.",
            "apac.anthropic.",
            "au.",
            "jp.anthropic.",
            "in.",
            "us-gov.",
            "voxtral",
            "pixtral",
            "safeguard",
            "llama3-1",
            "palmyra-x4",
        ],
        ..shelf("bedrock", Some("amazon-bedrock"), "bedrock_converse", Wire::Converse)
    },
];

/// The names of `thinkingFormat` that are switches, with ours.
const SWITCHES: &[(&str, &str)] = &[
    ("deepseek", "thinking_type"),
    ("zai", "thinking_type"),
    ("qwen", "enable_thinking"),
    ("together", "reasoning_enabled"),
];

impl Shelf {
    /// True if a model is taken.
    pub(super) fn takes(&self, id: &str) -> bool {
        let is_wanted = self.only.is_empty() || self.only.iter().any(|begin| id.starts_with(begin));
        // A text that ends with a dot is a beginning.
        let is_out = |text: &str| if text.ends_with('.') { id.starts_with(text) } else { id.contains(text) };
        is_wanted && !self.without.iter().any(|text| is_out(text))
    }

    /// The way to ask a model of this provider, by what the catalogue says of it; none if it need not be asked or it is
    /// not known how. What is not sure is left to the model.
    pub(super) fn thinks(&self, id: &str, told: Told) -> Option<Thinks> {
        let Told { levels, has_map, format, takes_effort, is_adaptive, echo } = told;
        let has_off = levels.contains(&"off");
        let of = |way, levels, ask| Some(Thinks { way, levels, ask, echo: echo && self.wire == Wire::Chat });
        match self.wire {
            Wire::Anthropic if !is_adaptive => of("budget", Vec::new(), None),
            // Those that think unasked are not told apart from the others, and asking for nothing suits both.
            Wire::Anthropic => of("always", levels.into_iter().filter(|level| *level != "minimal").collect(), None),
            Wire::AnthropicAlike => None,
            Wire::Responses => of("effort", if has_map { levels } else { Vec::new() }, None),
            Wire::Gemini if !id.starts_with("gemini-") => None,
            Wire::Gemini if has_map || id.ends_with("-latest") => {
                of("level", if has_map { levels } else { Vec::new() }, None)
            }
            Wire::Gemini => of("budget", Vec::new(), None),
            // It thinks only if it is told to (docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html).
            Wire::Converse if id.contains("amazon.nova-2-") => of("effort", vec!["off", "low", "medium", "high"], None),
            Wire::Converse => of("always", Vec::new(), None),
            Wire::Chat => match format.as_deref() {
                _ if self.provider == "openrouter" => {
                    of("always", if has_map { levels } else { Vec::new() }, Some("reasoning"))
                }
                Some("openai") | None if has_map && takes_effort != Some(false) && self.takes_effort() => {
                    of("effort", levels, Some("reasoning_effort"))
                }
                Some(format) => match SWITCHES.iter().find(|(name, _)| *name == format) {
                    Some((_, ask)) => of("always", if has_off { vec!["off", "medium"] } else { Vec::new() }, Some(ask)),
                    None => of("always", Vec::new(), None),
                },
                None => of("always", Vec::new(), None),
            },
        }
    }

    /// True if its Chat Completions are known to take `reasoning_effort`. The first catalogue speaks other wires with
    /// xAI and Mistral.
    fn takes_effort(&self) -> bool {
        !matches!(self.provider, "xai" | "mistral")
    }
}
