//! Kinds of symbols.

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A module of Rust, Ruby or the like.
    Module,
    /// A namespace.
    Namespace,
    /// A class or a record.
    Class,
    /// A struct or a union.
    Struct,
    /// An interface.
    Interface,
    /// A trait.
    Trait,
    /// An `impl` of Rust.
    Impl,
    /// An enumeration.
    Enum,
    /// A name for a type, or a concept.
    Type,
    /// A function.
    Function,
    /// A function of a type.
    Method,
    /// A function that makes an object of a class.
    Constructor,
    /// A property with code of its own.
    Property,
    /// A variable of a type.
    Field,
    /// A constant.
    Constant,
    /// A variable.
    Variable,
    /// A macro.
    Macro,
    /// A key of JSON.
    Key,
    /// An element of HTML.
    Element,
    /// A rule of CSS.
    Rule,
    /// `@media` of CSS.
    Media,
    /// `@keyframes` of CSS.
    Keyframes,
    /// Another rule of CSS that begins with `@` and has a block.
    AtRule,
}

impl SymbolKind {
    /// Returns the kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Namespace => "namespace",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Enum => "enum",
            Self::Type => "type",
            Self::Function => "function",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Property => "property",
            Self::Field => "field",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Macro => "macro",
            Self::Key => "key",
            Self::Element => "element",
            Self::Rule => "rule",
            Self::Media => "media query",
            Self::Keyframes => "keyframes",
            Self::AtRule => "at-rule",
        }
    }

    /// The number of LSP's `SymbolKind`. LSP has none for some; those get the number that rust-analyzer and VS Code's
    /// servers for HTML and CSS give them.
    pub fn lsp(self) -> u8 {
        match self {
            Self::Module | Self::Media | Self::AtRule => 2,
            Self::Namespace => 3,
            Self::Class | Self::Rule | Self::Keyframes => 5,
            Self::Method => 6,
            Self::Property => 7,
            Self::Field | Self::Element => 8,
            Self::Constructor => 9,
            Self::Enum => 10,
            Self::Interface | Self::Trait => 11,
            Self::Function | Self::Macro => 12,
            Self::Variable => 13,
            Self::Constant => 14,
            Self::Impl => 19,
            Self::Key => 20,
            Self::Struct => 23,
            Self::Type => 26,
        }
    }

    /// True if functions in it are methods, and variables in it fields.
    pub(super) fn has_members(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Interface | Self::Trait | Self::Impl | Self::Enum)
    }

    /// True if it is a value, and not something that holds code.
    pub(super) fn is_value(self) -> bool {
        matches!(self, Self::Field | Self::Constant | Self::Variable | Self::Macro | Self::Key)
    }
}
