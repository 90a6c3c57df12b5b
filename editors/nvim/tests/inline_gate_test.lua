--- A suggestion that is on the screen, when the place where it is becomes one for which nothing is suggested, and
--- Tab where a snippet wants it.

local inline = require("inline_support")
local support = require("support")

local T = {}

--- The rest of `print(name)`, from the cursor on.
local PRINT = [[function()
  local line, col = vim.api.nvim_get_current_line(), vim.fn.col(".") - 1
  local before = line:sub(1, col)
  local whole = "print(name)"
  if #before > 1 and #before < #whole and vim.startswith(whole, before) then
    return { { whole:sub(#before + 1), col, #line } }
  end
  return "There is nothing."
end]]

--- The mapping that Neovim has of its own from 0.11 on.
local JUMP = [[if vim.fn.maparg("<Tab>", "i") == "" then
  vim.keymap.set({ "i", "s" }, "<Tab>", function()
    return vim.snippet.active({ direction = 1 }) and "<Cmd>lua vim.snippet.jump(1)<CR>" or "<Tab>"
  end, { expr = true, desc = "vim.snippet.jump if active" })
end]]

--- Puts a snippet in the place of what is typed, as a completion does.
local EXPAND = [[
  vim.api.nvim_buf_set_text(0, 0, 0, 0, 2, {})
  vim.snippet.expand("print($1)$0")
]]

---@param child Child
---@return string[]
local function text(child)
  return child:lua("return _G.text()")
end

---@param child Child
---@return boolean
local function visible(child)
  return child:lua("return require('azimuth.inline').visible()")
end

---@param child Child
---@return integer
local function column(child)
  return child:lua("return vim.api.nvim_win_get_cursor(0)[2]")
end

function T.a_completion_that_expands_a_snippet_hides_it_and_tab_jumps()
  local child = inline.start({ "" }, { before = JUMP, suggest = PRINT })
  inline.type(child, "pr")
  inline.wait(child)
  child:lua(EXPAND)
  child:wait("not require('azimuth.inline').visible()")
  support.equal(text(child), { "print()" })
  support.equal(column(child), 6)
  inline.type(child, "<Tab>")
  support.equal(text(child), { "print()" })
  support.equal(column(child), 7)
  child:stop()
end

function T.tab_jumps_before_neovim_has_told_of_the_snippet()
  local child = inline.start({ "" }, { before = JUMP, suggest = PRINT })
  inline.type(child, "pr")
  inline.wait(child)
  child:lua(EXPAND .. [[vim.api.nvim_input("<Tab><F12>")]])
  child:wait("_G.played > 1")
  support.equal(text(child), { "print()" })
  support.equal(column(child), 7)
  child:stop()
end

function T.what_the_user_asks_for_in_a_snippet_is_shown_and_tab_jumps()
  local child = inline.start({ "" }, { before = JUMP, suggest = PRINT })
  inline.type(child, "pr")
  inline.wait(child)
  child:lua(EXPAND)
  child:wait("not require('azimuth.inline').visible()")
  child:type("<M-Up>")
  inline.wait(child)
  support.equal(child:lua("return _G.shown()"), { "print(name)" })
  inline.type(child, "n")
  assert(visible(child))
  inline.type(child, "<Tab>")
  support.equal(text(child), { "print(n)" })
  support.equal(column(child), 8)
  child:stop()
end

function T.a_suggestion_on_the_screen_goes_when_its_buffer_is_closed_to_suggestions()
  for _, change in ipairs({
    "vim.b.azimuth_inline = false",
    "vim.bo.readonly = true",
    "vim.wo.diff = true",
    "vim.b.visual_multi = 1",
    "package.loaded['multicursor-nvim'] = { hasCursors = function() return true end }",
  }) do
    for _, key in ipairs({ "i", "<Tab>" }) do
      local child = inline.start({ "" }, { before = "vim.o.expandtab = false", suggest = PRINT })
      inline.type(child, "pr")
      inline.wait(child)
      child:lua(change)
      inline.type(child, key)
      support.equal(visible(child), false, change)
      support.equal(text(child), { "pr" .. (key == "i" and "i" or "\t") }, change)
      support.equal(child:lua("return vim.list_slice(_G.events(), 1, 2)"), { "s1 shown", "s1 ignored" }, change)
      child:stop()
    end
  end
end

--- A user's own Tab for LuaSnip, which could expand something where the suggestion is.
local OWN_TAB = [[
  package.loaded["luasnip"] = {
    expand_or_locally_jumpable = function() return _G.can_expand end,
    locally_jumpable = function() return false end,
  }
  _G.can_expand = true
  vim.keymap.set("i", "<Tab>", function() return _G.can_expand and "!" or "<Tab>" end, { expr = true })
]]

function T.a_tab_of_the_users_own_comes_first_where_a_snippet_plugin_would_act()
  local child = inline.start({ "" }, { before = OWN_TAB, suggest = PRINT })
  inline.type(child, "pr")
  inline.wait(child)
  inline.type(child, "<Tab>")
  support.equal(text(child), { "pr!" })
  inline.type(child, "<BS>")
  inline.wait(child)
  child:lua("_G.can_expand = false")
  inline.type(child, "<Tab>")
  support.equal(text(child), { "print(name)" })
  child:stop()
end

function T.a_tab_that_the_user_has_chosen_accepts_all_the_same()
  local child = inline.start({ "" }, {
    setup = "{ inline = { keys = { accept = '<Tab>' } } }",
    before = OWN_TAB,
    suggest = PRINT,
  })
  inline.type(child, "pr")
  inline.wait(child)
  inline.type(child, "<Tab>")
  support.equal(text(child), { "print(name)" })
  child:stop()
end

function T.the_key_says_the_servers_reason_if_there_is_no_model()
  local child = inline.start({ "" }, { suggest = [[function() return _G.answer or {} end]] })
  local function says(reason, words)
    child:command("messages clear")
    child:lua([[_G.tell(require("azimuth.generated.protocol").notifications.inline_status,
      { state = "off", reason = ... and { rule = "no_model", words = ... } or nil })]], reason)
    child:wait("require('azimuth.inline').state() == 'off'")
    child:type("<M-Up>")
    child:wait(("vim.fn.execute('messages'):find(%q, 1, true)"):format("Azimuth: " .. words))
  end
  says("Ollama has no such model.", "Ollama has no such model.")
  says(nil, "The server has not said yet if there is a model")
  child:lua([[_G.answer = "No model is set."]])
  says(nil, "No model is set.")
  child:stop()
end

return T
