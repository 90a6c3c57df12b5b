--- The live terminal, end to end: bytes of a real shell come in, typed keys go out.

local models = require("model")
local support = require("support")

local T = {}

---@param command string
---@param test fun(child: Child, place: Place)
---@param held? boolean Whether the turn goes on until the test ends: with it a command that waits for input would end, too.
local function running(command, test, held)
  local place = support.place({ ["a.txt"] = "a\n" })
  local model = models.start({
    { calls = { { name = "shell_run", input = { command = command } } } },
    { text = "It ran.", held = held },
    { calls = { { name = "shell_run", input = { command = "touch made.txt; echo '<after>'" } } } },
    { text = "It ran again." },
  })
  support.use_model(place, model)
  local child = support.start(place)
  local ok, problem = xpcall(function()
    child:command("edit a.txt")
    child:open_chat()
    child:prompt("Run it.")
    child:wait_for("[a] ")
    child:lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(vim.fn.bufwinid('azimuth://chat'))")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:wait_for_question()
    child:type("a")
    test(child, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

local screen = [[(function()
  local bufnr = vim.fn.bufnr("azimuth://terminal/shell")
  return bufnr > 0 and table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n") or ""
end)()]]

---@param child Child
---@param part string
local function wait_for_screen(child, part)
  local ok, problem = pcall(child.wait, child, ("%s:find(%q, 1, true)"):format(screen, part))
  if not ok then
    error(("%s\nthe terminal:\n%s"):format(problem, child:lua("return " .. screen)), 2)
  end
end

function T.a_command_shows_and_a_typed_key_reaches_it()
  running("printf 'ready\\n'; read answer; echo \"got $answer\" > out.txt; echo \"<$answer>\"", function(child, place)
    child:command("Azimuth! terminal")
    wait_for_screen(child, "ready")
    support.equal(child:lua("return vim.fn.bufname()"), "azimuth://chat", "with ! the cursor stays")
    child:command("Azimuth terminal")
    child:wait("vim.bo.buftype == 'terminal'")
    child:type("i")
    child:wait("vim.api.nvim_get_mode().mode == 't'")
    child:type("hello<CR>")
    wait_for_screen(child, "<hello>")
    child:wait_for("It ran.")
    support.equal(support.read(place.project .. "/out.txt"), "got hello\n")
    child:type([[<C-\><C-n>]])
    child:wait("vim.api.nvim_get_mode().mode == 'nt'")
    support.contains(child:lua("return vim.wo.winbar"), "exit code 0")
    -- Closed and opened again it shows what it showed.
    child:type("q")
    child:wait("vim.bo.buftype ~= 'terminal'")
    child:command("Azimuth terminal")
    wait_for_screen(child, "<hello>")
    local _, count = child:lua("return " .. screen):gsub("<hello>", "")
    support.equal(count, 1, "nothing comes twice")
  end, true)
end

function T.what_was_missed_is_there_when_the_terminal_opens()
  running("touch made.txt; for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done; printf 'ä\\033[1mbold\\033[0m\\n'", function(child)
    child:wait_for("It ran.")
    child:command("Azimuth terminal")
    wait_for_screen(child, "line 10")
    wait_for_screen(child, "äbold")
  end)
end

function T.the_size_follows_the_window()
  running("sleep 0.3; stty size; read x; stty size; echo over", function(child)
    child:command("Azimuth terminal")
    local size = child:lua("return { vim.api.nvim_win_get_height(0), vim.api.nvim_win_get_width(0) }")
    local info = child:lua("return vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]")
    wait_for_screen(child, ("%d %d"):format(info.height, size[2]))
    child:command("resize 6")
    child:command("redraw")
    info = child:lua("return vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]")
    vim.wait(300)
    child:type("i<CR>")
    wait_for_screen(child, ("%d %d"):format(info.height, size[2]))
    wait_for_screen(child, "over")
  end, true)
end

function T.hostile_output_sets_nothing_and_types_nothing()
  running([[printf 'A\033]52;c;aGVsbG8=\007\033[6n\033[c\033]11;?\007\033P+q544e\033\\B\n'; sleep 0.4; read -t 0.2 x; echo "typed:${#x}:"]], function(child)
    child:lua([[
      _G.copied = nil
      vim.g.clipboard = {
        name = "test",
        copy = { ["+"] = function(lines) _G.copied = lines end, ["*"] = function(lines) _G.copied = lines end },
        paste = { ["+"] = function() return {} end, ["*"] = function() return {} end },
      }
    ]])
    child:command("Azimuth! terminal")
    child:wait_for("It ran.")
    wait_for_screen(child, "AB")
    wait_for_screen(child, "typed:0:")
    support.equal(child:lua("return _G.copied == nil"), true)
  end)
end

function T.what_runs_can_be_killed()
  running("touch made.txt; echo started; sleep 60", function(child)
    child:command("Azimuth terminal")
    wait_for_screen(child, "started")
    child:command("Azimuth terminal kill")
    child:wait_for("It ran.", 15000)
  end)
end

function T.the_terminal_goes_on_after_the_server_was_killed()
  running("touch made.txt; echo before", function(child)
    child:wait_for("It ran.")
    child:command("Azimuth terminal")
    wait_for_screen(child, "before")
    local pid = child:lua("return tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
    vim.uv.kill(pid, "sigkill")
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("started again", 1, true) end)]])
    child:wait("require('azimuth.client').lsp_client() ~= nil")
    child:prompt("Again.")
    child:wait("#require('azimuth.client').state().questions > 0")
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth permission")
    child:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
    child:wait_for_question()
    child:type("a")
    wait_for_screen(child, "<after>")
    support.contains(child:lua("return " .. screen), "before")
  end)
end

function T.keys_while_nothing_runs_are_refused_once()
  running("touch made.txt; echo before", function(child)
    child:wait_for("It ran.")
    child:command("Azimuth terminal")
    wait_for_screen(child, "before")
    child:type("i")
    child:wait("vim.api.nvim_get_mode().mode == 't'")
    child:type("ls")
    child:wait("#_G.said > 0")
    child:type("ls")
    vim.wait(200)
    support.equal(#child:lua("return _G.said"), 1)
  end)
end

return T
