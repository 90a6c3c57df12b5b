--- Other plugins that show text at the cursor. Two of them would write over each other and ask two models for each key.

local M = {}

---@class azimuth.inline.Other
---@field name string
---@field is_on fun(bufnr: integer): boolean It may raise an error: the parts of a plugin may change at any time.

--- A switch of a Vim script: on unless it is 0 or false.
---@param value any
---@return boolean
local function is_set(value)
  return value ~= nil and value ~= 0 and value ~= false
end

---@param name string A module, which is not loaded for the question.
---@return table?
local function loaded(name)
  local module = package.loaded[name]
  return type(module) == "table" and module or nil
end

---@param group string
---@param event string
---@return boolean
local function listens(group, event)
  local ok, found = pcall(vim.api.nvim_get_autocmds, { group = group, event = event })
  return ok and #found > 0
end

---@type azimuth.inline.Other[]
M.known = {
  {
    name = "copilot.lua",
    is_on = function()
      local config = loaded("copilot.config")
      local shown = config and (config.suggestion or config.get and config.get("suggestion"))
      return loaded("copilot.suggestion") ~= nil
        and (not shown or shown.enabled ~= false)
        and #vim.lsp.get_clients({ name = "copilot" }) > 0
    end,
  },
  {
    name = "copilot.vim",
    is_on = function()
      return is_set(vim.g.loaded_copilot) and (vim.g.copilot_enabled == nil or is_set(vim.g.copilot_enabled))
    end,
  },
  {
    name = "codeium.vim",
    is_on = function()
      return is_set(vim.g.loaded_codeium) and (vim.g.codeium_enabled == nil or is_set(vim.g.codeium_enabled))
    end,
  },
  {
    name = "codeium.nvim",
    is_on = function()
      local config = loaded("codeium.config")
      return config ~= nil and vim.tbl_get(config, "options", "virtual_text", "enabled") == true
    end,
  },
  {
    name = "supermaven-nvim",
    is_on = function()
      local preview, api = loaded("supermaven-nvim.completion_preview"), loaded("supermaven-nvim.api")
      return preview ~= nil and api ~= nil and not preview.disable_inline_completion and api.is_running() == true
    end,
  },
  {
    name = "minuet-ai.nvim",
    is_on = function(bufnr)
      return loaded("minuet.virtualtext") ~= nil and vim.b[bufnr].minuet_virtual_text_auto_trigger == true
    end,
  },
  {
    name = "llama.vim",
    is_on = function()
      return listens("llama", "CursorMovedI")
    end,
  },
  {
    name = "neocodeium",
    is_on = function()
      local state = loaded("neocodeium.options")
      return loaded("neocodeium") ~= nil and (not state or vim.tbl_get(state, "options", "enabled") ~= false)
    end,
  },
  {
    name = "vim.lsp.inline_completion",
    is_on = function(bufnr)
      local built_in = vim.lsp.inline_completion
      if not built_in or not built_in.is_enabled({ bufnr = bufnr }) then
        return false
      end
      local clients = vim.lsp.get_clients({ bufnr = bufnr, method = "textDocument/inlineCompletion" })
      return vim.iter(clients):any(function(client)
        return client.name ~= "azimuth" and built_in.is_enabled({ bufnr = bufnr, client_id = client.id })
      end)
    end,
  },
}

--- Those that show edits.
---@type azimuth.inline.Other[]
M.editors = {
  {
    name = "sidekick.nvim",
    is_on = function()
      local nes = loaded("sidekick.nes")
      return nes ~= nil and nes.enabled == true and #vim.lsp.get_clients({ name = "copilot" }) > 0
    end,
  },
  {
    name = "copilot-lsp",
    is_on = function(bufnr)
      return loaded("copilot-lsp.nes") ~= nil and #vim.lsp.get_clients({ name = "copilot_ls", bufnr = bufnr }) > 0
    end,
  },
}

---@param list azimuth.inline.Other[]
---@param bufnr integer
---@return string?
local function first_of(list, bufnr)
  for _, other in ipairs(list) do
    local ok, is_on = pcall(other.is_on, bufnr)
    if ok and is_on then
      return other.name
    end
  end
end

--- The name of one that shows text in a buffer, or nil.
---@param bufnr integer
---@return string?
function M.found(bufnr)
  return first_of(M.known, bufnr)
end

--- The name of one that shows edits in a buffer, or nil.
---@param bufnr integer
---@return string?
function M.editing(bufnr)
  return first_of(M.editors, bufnr)
end

return M
