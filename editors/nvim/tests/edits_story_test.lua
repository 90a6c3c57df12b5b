--- Next edits from end to end: keys in a real Neovim, the real server, and a model that speaks Sweep's dialect.

local fill_server = require("fill_server")
local stories = require("story_support")
local support = require("support")

local T = {}

local CODE = [[
fn area(width: u32) -> u32 {
    width * width
}

fn main() {
    println!("{}", area(2));
}
]]

--- A model that knows what follows from the second parameter.
---@param window string
---@return string
local function knows(window)
  if not window:find("height: u32", 1, true) then
    return window
  end
  return (window:gsub("width %* width", "width * height"):gsub("area%(2%)", "area(2, 3)"))
end

--- Runs a story in `main.rs`, in normal mode, with the cursor behind the first parameter.
---@param edit fun(window: string, path: string): string?
---@param story fun(child: Child, model: FillServer)
---@param options? { code?: string, lines?: integer, setup?: string, fill?: fun(prefix: string): string }
local function editing(edit, story, options)
  options = options or {}
  local model = fill_server.start(options.fill or function()
    return ""
  end, edit)
  stories.run({
    code = options.code or CODE,
    configuration = model:edit_configuration() .. (options.fill and model:configuration() or ""),
    ready = "require('azimuth.inline.edits').model() ~= nil",
    keys = "gg0f)",
    lines = options.lines,
    setup = options.setup,
  }, function(child)
    child:lua([[
      _G.visible = function() return require("azimuth.inline").edit_visible() end
      _G.edit = function() return require("azimuth.inline.edits.pending").edit() end
    ]])
    story(child, model)
  end)
end

--- Adds the parameter, from normal mode to normal mode.
---@param child Child
local function add_parameter(child)
  child:type("i, height: u32<Esc>")
  child:wait("_G.visible()")
end

local CHANGED = CODE:gsub("u32%)", "u32, height: u32)", 1)
local DONE = knows(CHANGED)

function T.what_follows_is_shown_gone_to_and_accepted_as_one_step()
  editing(knows, function(child, model)
    add_parameter(child)
    support.equal(vim.list_slice(child:lua("return _G.shown()"), 1, 6), {
      "fn area(width: u32, height: u32) -> u32 {", "    width * widthheight", "}", "", "fn main() {",
      '    println!("{}", area(2, 3));',
    })
    support.equal(child:lua("return _G.text()"), CHANGED)
    child:type("<Tab>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 2")
    child:type("<Tab>")
    child:wait(("_G.text() == %q"):format(DONE))
    child:wait("_G.edit() == nil")
    child:type("u")
    child:wait(("_G.text() == %q"):format(CHANGED))
    -- From the last hunk to the first, and to where the cursor was before.
    child:type("<C-o><C-o>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 1")
    support.equal(model.edits[1].path, "main.rs")
  end)
end

function T.hunks_are_decided_one_by_one()
  editing(knows, function(child)
    add_parameter(child)
    child:type("<Tab>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 2")
    child:type("<M-Right>")
    child:wait("_G.text():find('width * height', 1, true)")
    child:wait("_G.visible()")
    support.contains(child:lua("return _G.text()"), "area(2))")
    child:type("<M-Down>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 6")
    child:type("<M-Left>")
    child:wait("_G.edit() == nil")
    support.contains(child:lua("return _G.text()"), "area(2))")
  end)
end

function T.in_insert_mode_the_same_key_goes_there_and_accepts()
  editing(knows, function(child)
    child:type("i, height: u32")
    child:wait("_G.visible()")
    child:type("<Tab>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 2")
    child:type("<Tab>")
    child:wait(("_G.text() == %q"):format(DONE))
    support.equal(child:lua("return vim.api.nvim_get_mode().mode"), "i")
    child:wait("_G.edit() == nil")
    child:type("<Tab>")
    child:wait([[_G.text():find("area(2, 3    ))", 1, true)]])
  end)
end

function T.what_only_adds_at_the_cursor_is_ghost_text_that_is_typed_through()
  local line = "    let size = width * 2;"
  editing(function(window)
    return (window:gsub("\n    let si?z?e?[^\n]*\n", "\n" .. line .. "\n"))
  end, function(child)
    child:type("olet s")
    child:wait(("_G.shown()[2] == %q"):format(line))
    child:wait("_G.visible()")
    support.contains(child:lua("return _G.text()"), "\n    let s\n")
    for at = 10, 14 do
      child:type(line:sub(at, at))
      child:wait(("vim.api.nvim_get_current_line() == %q"):format(line:sub(1, at)))
      support.equal(child:lua("return _G.shown()[2]"), line)
    end
    child:wait("_G.visible()")
    child:type("<Tab>")
    child:wait(("vim.api.nvim_get_current_line() == %q"):format(line))
    child:wait(("vim.api.nvim_win_get_cursor(0)[2] == %d"):format(#line))
    child:type("<Esc>u")
    child:wait(("vim.api.nvim_get_current_line() == %q"):format(line:sub(1, 14)))
  end)
end

function T.it_moves_with_the_text_and_goes_when_something_else_is_typed_into_it()
  editing(knows, function(child)
    add_parameter(child)
    child:type("ggO// An area.<Esc>")
    child:wait([[_G.shown()[3] == "    width * widthheight"]])
    child:wait("_G.visible() and _G.edit().hunks[1].range.start.line == 2")
    child:type("3GA + 1<Esc>")
    child:wait("_G.shown()[3] == '    width * width + 1' or _G.shown()[3] == '    width * widthheight + 1'")
    child:type("u")
    support.contains(child:lua("return _G.text()"), "width * width")
  end)
end

function T.what_was_rejected_is_not_suggested_there_again_and_the_list_says_so()
  editing(knows, function(child, model)
    add_parameter(child)
    child:type("<M-S-Left>")
    child:wait("_G.edit() == nil")
    local asked = #model.edits
    child:type("O// An area.<Esc>")
    -- A model is let alone for five seconds after a rejection, so this waits for longer.
    assert(vim.wait(20000, function()
      child:lua("return 1")
      return #model.edits > asked
    end, 20), "the model is not asked again")
    vim.wait(300)
    support.equal(child:lua("return _G.visible()"), false)
    child:command("Azimuth inline why")
    child:wait([[table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find("rejected it before", 1, true)]])
  end)
end

function T.an_edit_off_the_screen_is_told_at_the_cursor()
  editing(knows, function(child)
    child:type("i, height: u32<Esc>")
    child:wait("_G.visible()")
    child:type("<M-Right>")
    child:wait("_G.shown()[1]:find('↓ 8 lines · Tab', 1, true)")
    child:type("<Tab>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 9")
    child:type("<Tab>")
    child:wait("_G.text():find('area(2, 3)', 1, true)")
  end, { lines = 9, code = (CODE:gsub("    width %* width\n", ("    // A line.\n"):rep(4))) })
end

function T.the_other_uses_of_a_renamed_name_follow()
  editing(function(window)
    return window
  end, function(child)
    child:type("gg0wcwspace<Esc>")
    child:wait("_G.visible() and _G.edit().kind == 'rename'")
    child:wait([[_G.shown()[6] == '    println!("{}", areaspace(2));']])
    child:type("<Tab>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 6")
    child:type("<Tab>")
    child:wait("_G.text():find('space(2)', 1, true)")
    child:type("u")
    child:wait("_G.text():find('area(2)', 1, true)")
    support.contains(child:lua("return _G.text()"), "fn space(")
  end)
end

function T.an_edit_of_another_file_is_gone_to_and_accepted_there()
  local other = "fn volume(width: u32) -> u32 {\n    width * width\n}\n"
  editing(function(window, path)
    if path == "other.rs" then
      return (window:gsub("volume%(width: u32%)", "volume(width: u32, height: u32)"))
    end
    return window
  end, function(child)
    child:lua("vim.fn.writefile(vim.split(..., '\\n'), 'other.rs', 'b')", other)
    child:command("edit other.rs")
    child:command("edit main.rs")
    child:type("gg0f)i, height: u32<Esc>")
    child:wait("_G.visible()")
    child:wait("_G.shown()[1]:find('→ other.rs:1 · Tab', 1, true)")
    child:type("<Tab>")
    child:wait("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'other.rs'")
    child:wait("_G.visible()")
    support.equal(child:lua("return _G.shown()[1]"), "fn volume(width: u32, height: u32) -> u32 {")
    child:type("<Tab>")
    child:wait("_G.text():find('height', 1, true)")
    child:wait("_G.edit() == nil")
    child:type("<C-o>")
    child:wait("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'main.rs'")
  end)
end

function T.a_call_in_a_file_that_is_not_open_is_gone_to_and_accepted_there()
  editing(function(window, path)
    return path == "other.rs" and (window:gsub("area%(2%)", "area(2, 3)")) or window
  end, function(child)
    child:lua(
      [[
        vim.fn.writefile({ "fn other() {", "    area(2);", "}", "" }, "other.rs")
        local uri = vim.uri_from_fname(vim.fs.joinpath(vim.fn.getcwd(), "other.rs"))
        local at = { line = 1, character = 4 }
        dofile(...).start({
          name = "knows",
          capabilities = { referencesProvider = true },
          answers = {
            ["textDocument/references"] = function()
              return { { uri = uri, range = { start = at, ["end"] = at } } }
            end,
          },
        }, 0)
      ]],
      support.plugin .. "/tests/lang_server.lua"
    )
    child:wait("#vim.lsp.get_clients({ name = 'knows' }) == 1")
    add_parameter(child)
    child:wait("_G.shown()[1]:find('→ other.rs:2 · Tab', 1, true)")
    support.equal(child:lua("return vim.fn.bufexists('other.rs')"), 0)
    child:type("<Tab>")
    child:wait("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'other.rs'")
    child:wait("_G.visible() and _G.edit().version ~= nil")
    child:wait("_G.shown()[2]:find(', 3', 1, true)")
    child:type("<Tab>")
    child:wait("_G.text():find('area(2, 3)', 1, true)")
    child:wait("_G.edit() == nil")
  end)
end

function T.the_key_says_why_there_is_none()
  editing(function(window)
    return window
  end, function(child)
    child:type("x<M-Up>")
    child:wait("vim.fn.execute('messages'):find('Azimuth: The answer changes nothing.', 1, true)")
  end)
end

function T.ghost_text_and_an_edit_do_not_stand_in_each_others_way()
  editing(knows, function(child)
    add_parameter(child)
    child:type("Gofn tw")
    child:wait("require('azimuth.inline').visible()")
    child:wait("_G.edit() ~= nil")
    local rows = child:lua("return _G.shown()")
    support.equal({ rows[2], rows[8] }, { "    width * width", "fn two() {}" })
    child:type("<M-Left>")
    child:wait("_G.visible()")
    rows = child:lua("return _G.shown()")
    support.equal({ rows[2], rows[8] }, { "    width * widthheight", "fn tw" })
    child:type("<Tab>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 6")
  end, {
    fill = function(prefix)
      return prefix:match("fn tw$") and "o() {}" or ""
    end,
  })
end

return T
