--- Suggestions from end to end: keys in a real Neovim, the real server, and a model that speaks llama.cpp's format.

local fill_server = require("fill_server")
local stories = require("story_support")
local support = require("support")

local T = {}

local CODE = "fn main() {\n    let numbers = [1, 2, 3];\n    let sum = \n}\n"
local REST = "numbers.iter().sum::<i32>();"

--- Runs a story in `main.rs`, in insert mode behind `let sum = `.
---@param answer fun(prefix: string, suffix: string): string?, integer?
---@param story fun(child: Child, model: FillServer)
local function typing(answer, story)
  local model = fill_server.start(answer)
  stories.run({
    code = CODE,
    configuration = model:configuration(),
    ready = "require('azimuth.inline').state() == 'ready'",
    keys = "3GA",
    mode = "i",
  }, function(child)
    story(child, model)
  end)
end

--- A model that knows the rest of the line, from wherever it is asked.
---@param prefix string
---@return string
local function knows(prefix)
  local typed = prefix:match("let sum = ([^\n]*)$")
  return typed and vim.startswith(REST, typed) and REST:sub(#typed + 1) or ""
end

function T.what_the_model_suggests_is_shown_followed_and_accepted()
  typing(knows, function(child, model)
    child:wait("require('azimuth.inline').visible()")
    support.equal(child:lua("return _G.shown()[3]"), "    let sum = " .. REST)
    for at = 1, 14 do
      child:type(REST:sub(at, at))
      child:wait(("_G.line() == %q"):format("    let sum = " .. REST:sub(1, at)))
      support.equal(child:lua("return _G.shown()[3]"), "    let sum = " .. REST)
    end
    support.equal(#model.asked, 1)
    child:type("<M-Right>")
    child:wait(("_G.line() == %q"):format("    let sum = numbers.iter()."))
    child:type("<Tab>")
    child:wait(("_G.line() == %q"):format("    let sum = " .. REST))
    child:type("<Esc>u")
    child:wait(("_G.line() == %q"):format("    let sum = numbers.iter()."))
  end)
end

function T.another_key_hides_it_at_once_and_deleting_brings_it_back_without_the_model()
  typing(knows, function(child, model)
    child:wait("require('azimuth.inline').visible()")
    child:type("x")
    child:wait("_G.line():sub(-1) == 'x'")
    support.equal(child:lua("return _G.shown()[3]"), "    let sum = x")
    local asked = #model.asked
    child:type("<BS>")
    child:wait("require('azimuth.inline').visible()")
    support.equal(child:lua("return _G.shown()[3]"), "    let sum = " .. REST)
    assert(#model.asked <= asked + 1)
  end)
end

function T.the_health_check_names_the_model()
  typing(knows, function(child)
    child:type("<Esc>")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:command("checkhealth azimuth")
    local report = child:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    support.contains(report, "Text is suggested by ")
  end)
end

function T.keys_that_follow_a_running_request_do_not_end_it()
  local function slowly(prefix)
    return knows(prefix), 400
  end
  typing(slowly, function(child, model)
    assert(vim.wait(5000, function()
      return #model.asked == 1
    end, 5))
    child:type("num")
    child:wait("require('azimuth.inline').visible()")
    support.equal(child:lua("return _G.shown()[3]"), "    let sum = " .. REST)
    support.equal({ #model.asked, model.closed }, { 1, 0 })
  end)
end

function T.a_dismissed_suggestion_is_not_suggested_there_again_unless_the_user_asks()
  typing(knows, function(child)
    child:wait("require('azimuth.inline').visible()")
    child:type("<M-Left>")
    child:wait("not require('azimuth.inline').visible()")
    support.equal(child:lua("return _G.shown()[3]"), "    let sum =")
    child:type("<M-Up>")
    child:wait("require('azimuth.inline').visible()")
    support.equal(child:lua("return _G.shown()[3]"), "    let sum = " .. REST)
  end)
end

function T.the_user_is_told_why_there_is_no_suggestion()
  typing(function()
    return ""
  end, function(child)
    child:type("<M-Up>")
    child:wait("vim.fn.execute('messages'):find('Azimuth: The answer is empty.', 1, true)")
    child:type("<Esc>")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:command("Azimuth inline why")
    child:wait([[table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find("The answer is empty.", 1, true)]])
  end)
end

function T.several_lines_come_where_a_block_begins()
  local block = "for number in numbers {\n        println!(\"{number}\");\n    }"
  typing(function(prefix)
    return prefix:match("\n    $") and block or ""
  end, function(child)
    child:type("0;<CR>")
    child:wait("require('azimuth.inline').visible()")
    local rows = child:lua("return vim.list_slice(_G.shown(), 4, 7)")
    support.equal(rows, { "    for number in numbers {", "        println!(\"{number}\");", "    }", "}" })
    child:type("<Tab>")
    child:wait("_G.line() == '    }'")
    local lines = child:lua("return vim.api.nvim_buf_get_lines(0, 3, -1, false)")
    support.equal(lines, { "    for number in numbers {", "        println!(\"{number}\");", "    }", "}" })
  end)
end

function T.a_failing_model_server_is_told_and_forgiven()
  local fails = true
  typing(function(prefix)
    return not fails and knows(prefix) or nil
  end, function(child)
    for _ = 1, 3 do
      child:type("<M-Up>")
      child:wait("vim.fn.execute('messages'):find('Azimuth: ', 1, true)")
      child:command("messages clear")
    end
    child:wait("require('azimuth.status').inline() == 'suggestions fail'")
    fails = false
    child:type("<M-Up>")
    child:wait("require('azimuth.inline').visible()")
    child:wait("require('azimuth.status').inline() == 'suggests'")
  end)
end

function T.without_a_model_nothing_happens_and_the_key_says_so()
  local place = support.place({ ["main.rs"] = CODE })
  local child = support.start(place)
  child:command("edit main.rs")
  child:lua("require('azimuth.client').start()")
  child:wait("require('azimuth.client').lsp_client() ~= nil")
  child:type("3GAx<M-Up>")
  child:wait("vim.fn.execute('messages'):find('Azimuth: No model is ', 1, true)")
  support.equal(child:lua("return require('azimuth.status').inline()"), "")
  child:stop()
end

function T.neovims_own_inline_completion_has_the_suggestions_without_the_plugin()
  if vim.fn.has("nvim-0.12") == 0 then
    return
  end
  local model = fill_server.start(knows)
  local place = support.place({ ["main.rs"] = CODE })
  support.write(place.home .. "/config/azimuth/config.toml", model:configuration())
  local child = support.start(place)
  child:command("edit main.rs")
  child:lua([[
    vim.lsp.start({
      name = "plain",
      cmd = { vim.env.AZIMUTH_SERVER, "lsp" },
      root_dir = vim.fn.getcwd(),
      init_options = { workspaceTrust = "trusted" },
    })
    vim.lsp.inline_completion.enable()
  ]])
  child:wait("#vim.lsp.get_clients({ name = 'plain', method = 'textDocument/inlineCompletion' }) == 1")
  child:type("3GA")
  child:wait([[(function()
    vim.cmd.redraw()
    local cells = {}
    for column = 1, 60 do table.insert(cells, vim.fn.screenstring(3, column)) end
    return table.concat(cells):find("numbers.iter", 1, true)
  end)()]])
  child:lua("vim.lsp.inline_completion.get()")
  child:wait(("vim.api.nvim_get_current_line() == %q"):format("    let sum = " .. REST))
  child:stop()
end

return T
