-- Generated from the table `protocol::mode` by `cargo run -p xtask -- codegen`. Do not edit.

---A mode, as it is shown to the user.
---@class azimuth.ModeInfo
---@field mode azimuth.Mode
---@field name string The name that people type.
---@field words string One line on it.
---@field accepts_edits boolean True if edits are accepted automatically in it.
---@field asks boolean False if nothing is asked in it but what `ask` rules ask.
---@field needs_confirmation boolean True if the user has to confirm it.

---Every mode, the one that may do least first.
---@type azimuth.ModeInfo[]
return {
  {
    mode = "ask",
    name = "ask",
    words = "reads and answers; changes nothing and runs nothing",
    accepts_edits = false,
    asks = true,
    needs_confirmation = false,
  },
  {
    mode = "plan",
    name = "plan",
    words = "reads, runs commands that only read, and plans; changes nothing",
    accepts_edits = false,
    asks = true,
    needs_confirmation = false,
  },
  {
    mode = "agent",
    name = "agent",
    words = "everything, within the permissions: proposes edits, and asks before commands",
    accepts_edits = false,
    asks = true,
    needs_confirmation = false,
  },
  {
    mode = "accept_edits",
    name = "accept-edits",
    words = "like agent, but accepts edits automatically",
    accepts_edits = true,
    asks = true,
    needs_confirmation = false,
  },
  {
    mode = "bypass",
    name = "bypass",
    words = "accepts edits automatically, and asks only where your `ask` rules require it",
    accepts_edits = true,
    asks = false,
    needs_confirmation = true,
  },
}
