--- The default mappings: few, below one prefix, and only on keys that are free.

local config = require("azimuth.config")

local M = {}

---@class azimuth.Mapping
---@field action string The subcommand of `:Azimuth`, and the mapping's name.
---@field modes string[]
---@field key string What follows the prefix.
---@field command string
---@field desc string

---@type azimuth.Mapping[]
M.defaults = {
  { action = "chat", modes = { "n" }, key = "a", command = "<Cmd>Azimuth chat<CR>", desc = "open or close the chat" },
  { action = "ask", modes = { "x" }, key = "a", command = ":Azimuth ask<CR>", desc = "ask about the selection" },
  { action = "change", modes = { "n", "x" }, key = "k", command = "<Cmd>Azimuth change<CR>", desc = "change this" },
  { action = "sessions", modes = { "n" }, key = "s", command = "<Cmd>Azimuth sessions<CR>", desc = "choose a session" },
  { action = "search", modes = { "n" }, key = "/", command = "<Cmd>Azimuth search<CR>", desc = "find what was said in any session" },
  { action = "prompts", modes = { "n" }, key = "f", command = "<Cmd>Azimuth prompts<CR>", desc = "find an earlier prompt" },
  { action = "new", modes = { "n" }, key = "n", command = "<Cmd>Azimuth new<CR>", desc = "new session" },
  { action = "models", modes = { "n" }, key = "m", command = "<Cmd>Azimuth models<CR>", desc = "choose a model" },
  { action = "next_model", modes = { "n" }, key = "M", command = "<Cmd>Azimuth next_model<CR>", desc = "next model" },
  { action = "thinking", modes = { "n" }, key = "h", command = "<Cmd>Azimuth thinking next<CR>", desc = "have the model think more, or less" },
  { action = "permission", modes = { "n" }, key = "p", command = "<Cmd>Azimuth permission<CR>", desc = "go to the question" },
  { action = "cancel", modes = { "n" }, key = "c", command = "<Cmd>Azimuth cancel<CR>", desc = "cancel the turn" },
  { action = "retry", modes = { "n" }, key = "e", command = "<Cmd>Azimuth retry<CR>", desc = "ask the model again now" },
  { action = "review", modes = { "n" }, key = "r", command = "<Cmd>Azimuth review<CR>", desc = "review the proposed changes" },
  { action = "accept", modes = { "n" }, key = "y", command = "<Cmd>Azimuth accept<CR>", desc = "accept the hunk" },
  { action = "reject", modes = { "n" }, key = "x", command = "<Cmd>Azimuth reject<CR>", desc = "reject the hunk" },
  { action = "comment", modes = { "n" }, key = "w", command = "<Cmd>Azimuth comment<CR>", desc = "comment on the hunk" },
  { action = "diff", modes = { "n" }, key = "d", command = "<Cmd>Azimuth diff<CR>", desc = "see the proposal side by side" },
  { action = "terminal", modes = { "n" }, key = "t", command = "<Cmd>Azimuth terminal<CR>", desc = "open the terminal" },
  { action = "answer", modes = { "n" }, key = "i", command = "<Cmd>Azimuth answer<CR>", desc = "answer a command that waits for input" },
  { action = "jobs", modes = { "n" }, key = "j", command = "<Cmd>Azimuth jobs<CR>", desc = "list terminals and jobs" },
}

--- The mappings that were made, so that `setup` after the start can take them back.
---@type { mode: string, lhs: string }[]
local made = {}

--- Makes the default mappings, in place of those made before.
function M.set()
  for _, mapping in ipairs(made) do
    pcall(vim.keymap.del, mapping.mode, mapping.lhs)
  end
  made = {}
  require("azimuth.inline.keys").set()
  if not config.values.mappings then
    return
  end
  for _, mapping in ipairs(M.defaults) do
    local lhs = config.values.prefix .. mapping.key
    for _, mode in ipairs(mapping.modes) do
      if vim.fn.maparg(lhs, mode) == "" then
        vim.keymap.set(mode, lhs, mapping.command, { silent = true, desc = "Azimuth: " .. mapping.desc })
        table.insert(made, { mode = mode, lhs = lhs })
      end
    end
  end
end

--- How a user gets at an action: its key, or its command where no key is mapped.
---@param action string
---@return string
function M.shown(action)
  for _, mapping in ipairs(M.defaults) do
    if mapping.action == action then
      local lhs = config.values.prefix .. mapping.key
      local wanted = vim.api.nvim_replace_termcodes(lhs:gsub("<[lL]eader>", function()
        return vim.g.mapleader or "\\"
      end), true, true, true)
      for _, one in ipairs(made) do
        if one.lhs == lhs and vim.fn.maparg(lhs, one.mode) ~= "" then
          return vim.fn.keytrans(wanted)
        end
      end
    end
  end
  return ":Azimuth " .. action
end

--- Starts the server with the first file.
function M.autostart()
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("azimuth.autostart", { clear = true }),
    once = true,
    callback = function()
      require("azimuth.client").start()
    end,
  })
end

return M
