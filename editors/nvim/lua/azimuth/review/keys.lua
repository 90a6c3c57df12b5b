--- The keys of a document while it has open hunks, beside the default mappings of `azimuth.mappings`.

local config = require("azimuth.config")
local mappings = require("azimuth.mappings")

local M = {}

---@class azimuth.review.Key
---@field action string
---@field mode string
---@field lhs fun(): string
---@field rhs string
---@field desc string

---@param key string
---@return fun(): string
local function prefixed(key)
  return function()
    return config.values.prefix .. key
  end
end

---@param key string
---@return fun(): string
local function literal(key)
  return function()
    return key
  end
end

---@type azimuth.review.Key[]
M.keys = {
  { action = "next", mode = "n", lhs = literal("]a"), rhs = "<Cmd>Azimuth next<CR>", desc = "next hunk" },
  { action = "prev", mode = "n", lhs = literal("[a"), rhs = "<Cmd>Azimuth prev<CR>", desc = "previous hunk" },
  { action = "accept", mode = "x", lhs = prefixed("y"), rhs = ":Azimuth accept<CR>", desc = "accept the selected hunks" },
  { action = "reject", mode = "x", lhs = prefixed("x"), rhs = ":Azimuth reject<CR>", desc = "reject the selected hunks" },
  { action = "comment", mode = "x", lhs = prefixed("w"), rhs = ":Azimuth comment<CR>", desc = "say something of the selected hunks" },
  { action = "accept file", mode = "n", lhs = prefixed("Y"), rhs = "<Cmd>Azimuth accept file<CR>", desc = "accept the file" },
  { action = "reject file", mode = "n", lhs = prefixed("X"), rhs = "<Cmd>Azimuth reject file<CR>", desc = "reject the file" },
}

--- The mappings that were made, by buffer.
---@type table<integer, { mode: string, lhs: string }[]>
local made = {}

--- Maps the keys that are free in a buffer. `]a` and `[a` step aside only for a mapping of the user's own.
---@param bufnr integer
function M.map(bufnr)
  if made[bufnr] or not config.values.mappings then
    return
  end
  made[bufnr] = {}
  vim.api.nvim_buf_call(bufnr, function()
    for _, key in ipairs(M.keys) do
      local lhs = key.lhs()
      local taken = vim.fn.maparg(lhs, key.mode, false, true)
      local built_in = type(taken.desc) == "string" and taken.desc:find("^:") ~= nil and taken.buffer ~= 1
      if vim.tbl_isempty(taken) or built_in then
        vim.keymap.set(key.mode, lhs, key.rhs, { buffer = bufnr, silent = true, desc = "Azimuth: " .. key.desc })
        table.insert(made[bufnr], { mode = key.mode, lhs = lhs, action = key.action })
      end
    end
  end)
end

--- Takes the keys back.
---@param bufnr integer
function M.unmap(bufnr)
  for _, key in ipairs(made[bufnr] or {}) do
    pcall(vim.keymap.del, key.mode, key.lhs, { buffer = bufnr })
  end
  made[bufnr] = nil
end

--- How a user gets at an action.
---@param action string
---@return string
function M.shown(action)
  return mappings.shown(action)
end

--- Returns the names of the decisions on a proposal: one that has landed is in the document already.
---@param proposal azimuth.Proposal
---@return string accept
---@return string reject
local function verbs(proposal)
  if proposal.landed then
    return "keep", "take back"
  end
  return "accept", "reject"
end

--- A few words on the keys of a hunk, as many as fit.
---@param item { proposal: azimuth.Proposal, hunk: azimuth.Hunk }
---@param room integer In cells.
---@return string
function M.hint(item, room)
  local accept, reject = verbs(item.proposal)
  local words = { M.shown("accept") .. " " .. accept, M.shown("reject") .. " " .. reject }
  if item.hunk.state == "conflicted" then
    table.remove(words, item.proposal.landed and 2 or 1)
  end
  if config.values.mappings then
    table.insert(words, "]a next")
  end
  while #words > 0 and vim.fn.strdisplaywidth(table.concat(words, " · ")) > room do
    table.remove(words)
  end
  return table.concat(words, " · ")
end

return M
