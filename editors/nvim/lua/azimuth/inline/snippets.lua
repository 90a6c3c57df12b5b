--- Snippets, of Neovim and of plugins: their Tab goes before a suggestion's.

local M = {}

--- A module of a plugin, if it is loaded. Where it is not, no snippet of it can be under way.
---@param name string
---@return table
local function part(name)
  local module = package.loaded[name]
  return type(module) == "table" and module or {}
end

--- True while Tab goes through a snippet.
---@return boolean
function M.is_active()
  if vim.snippet and vim.snippet.active() then
    return true
  end
  local ok, is_in = pcall(function()
    return part("luasnip").locally_jumpable(1)
  end)
  return ok and is_in == true
end

--- The plugins that would expand a snippet here or go on in one. Each may raise an error: that it is not there, or
--- that it has changed.
---@type (fun(): any)[]
local engines = {
  function()
    return part("luasnip").expand_or_locally_jumpable()
  end,
  function()
    return part("snippy").can_expand_or_advance()
  end,
  function()
    return part("mini.snippets").session.get(false) ~= nil
  end,
  function()
    return vim.fn["vsnip#available"](1)
  end,
  function()
    return vim.fn["UltiSnips#CanExpandSnippet"]()
  end,
  function()
    return vim.fn["UltiSnips#CanJumpForwards"]()
  end,
}

--- True if a Tab that is mapped to one of them would do something here.
---@return boolean
function M.would_act()
  return vim.iter(engines):any(function(engine)
    local ok, would = pcall(engine)
    return ok and would ~= nil and would ~= false and would ~= 0
  end)
end

return M
