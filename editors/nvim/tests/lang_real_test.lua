--- Questions about code, answered by a real language server: pyright, over stdio, as a user has it.
---
--- PYRIGHT names the program `pyright-langserver`; without it these tests do not run.

local models = require("model")
local support = require("support")

local T = {}

if not vim.env.PYRIGHT then
  io.stdout:write("skip lang_real_test.lua: PYRIGHT names no pyright-langserver\n")
  return T
end

local shapes = [[
class Shape:
    """A shape."""

    def area(self) -> float:
        return 0.0


class Square(Shape):
    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        return self.side * self.side
]]

local main = [[
from shapes import Square


def total(sides: list[float]) -> float:
    return sum(Square(side).area() for side in sides)


print("🦀", total([1.0, 2.0]))
wrong: int = "text"
]]

--- Asks as the server does.
---@param child Child
---@param query table
---@param within? integer
---@return azimuth.LangResult
local function answer(child, query, within)
  child:lua(
    [[
      local query, within = ...
      local own = require("azimuth.client").lsp_client()
      local method = require("azimuth.generated.protocol").client_requests.editor_query
      _G.answer = nil
      coroutine.wrap(function()
        _G.answer = own.handlers[method](nil, { query = query, timeoutMs = within }, { client_id = own.id, method = method })
      end)()
    ]],
    query,
    within or 60000
  )
  return child:wait("_G.answer", 70000)
end

--- The command lines of what a process has started, and of what that has started. Of all of its threads: Neovim's own way to ask
--- for the children of a process passes over those of all but the first.
---@param pid integer
---@return string[]
local function started_by(pid)
  local commands, children = {}, {}
  for name in vim.fs.dir("/proc") do
    local ok, stat = pcall(support.read, ("/proc/%s/stat"):format(name))
    local parent = ok and tonumber(name) and tonumber(stat:match("^%d+ %(.*%) %a (%d+)"))
    if parent then
      children[parent] = children[parent] or {}
      table.insert(children[parent], tonumber(name))
    end
  end
  local function add(of)
    for _, child in ipairs(children[of] or {}) do
      local ok, command = pcall(support.read, ("/proc/%d/cmdline"):format(child))
      table.insert(commands, ok and vim.trim((command:gsub("%z", " "))) or "it has ended")
      add(child)
    end
  end
  add(pid)
  return commands
end

--- The language servers that our server has started.
---@param child Child
---@return string[]
local function our_servers(child)
  local ours = vim.tbl_filter(function(pid)
    return vim.startswith(support.read(("/proc/%d/cmdline"):format(pid)), support.server())
  end, child:lua("return vim.api.nvim_get_proc_children(vim.fn.getpid())"))
  support.equal(#ours, 1, "not one server of ours runs")
  return vim.tbl_filter(function(command)
    return command:find("pyright", 1, true) ~= nil
  end, started_by(ours[1]))
end

---@param test fun(child: Child, uri: (fun(file: string): string), model: Model)
---@param options? { without: boolean } Whether Neovim does not run it, where our server could.
local function with_pyright(test, options)
  local place = support.place({ ["shapes.py"] = shapes, ["main.py"] = main, ["pyrightconfig.json"] = "{}\n", ["other.md"] = "text\n" })
  local model = models.start({})
  support.use_model(place, model)
  -- Our server would find it, too.
  local child = support.start(place, { environment = { PATH = vim.fs.dirname(vim.env.PYRIGHT) .. ":" .. vim.env.PATH } })
  local ok, problem = xpcall(function()
    -- As in a user's own configuration.
    child:lua(
      [[
        local program, without = ...
        local command = { program, "--stdio" }
        vim.cmd("filetype on")
        if without then
          return
        end
        if vim.fn.has("nvim-0.11") == 1 then
          vim.lsp.config("pyright", { cmd = command, filetypes = { "python" }, root_markers = { "pyrightconfig.json" } })
          vim.lsp.enable("pyright")
        else
          vim.api.nvim_create_autocmd("FileType", { pattern = "python", callback = function()
            vim.lsp.start({ name = "pyright", cmd = command, root_dir = vim.fs.root(0, "pyrightconfig.json") })
          end })
        end
      ]],
      vim.env.PYRIGHT,
      options ~= nil and options.without
    )
    child:command("edit other.md")
    child:open_chat()
    child:close_chat()
    test(child, function(file)
      return vim.uri_from_fname(place.project .. "/" .. file)
    end, model)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param locations azimuth.LangLocation[]
---@return string[]
local function lines_of(locations)
  local lines = vim.tbl_map(function(location)
    return ("%s:%d"):format(vim.fs.basename(vim.uri_to_fname(location.uri)), location.range.start.line + 1)
  end, locations)
  table.sort(lines)
  return lines
end

function T.pyright_answers_for_files_that_are_not_open()
  with_pyright(function(child, uri)
    -- It is not even running yet.
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 0)
    local square = { line = 4, character = 17 }
    local said = answer(child, { type = "definition", uri = uri("main.py"), position = square })
    support.equal({ said.status, said.servers[1].name }, { "ready", "pyright" })
    support.equal(lines_of(said.answer.locations), { "shapes.py:8" })
    support.equal(child:lua("return { vim.fn.bufloaded('main.py'), vim.fn.bufloaded('shapes.py') }"), { 0, 0 })

    said = answer(child, { type = "references", uri = uri("shapes.py"), position = { line = 7, character = 8 } })
    support.equal(lines_of(said.answer.locations), { "main.py:1", "main.py:5", "shapes.py:8" })

    said = answer(child, { type = "hover", uri = uri("main.py"), position = { line = 3, character = 5 } })
    support.contains(said.answer.text, "def total(sides: list[float]) -> float")

    said = answer(child, { type = "documentSymbols", uri = uri("shapes.py") })
    local symbols = vim.tbl_map(function(symbol)
      return ("  "):rep(symbol.depth) .. symbol.name
    end, said.answer.symbols)
    support.equal(vim.list_slice(symbols, 1, 5), { "Shape", "  area", "Square", "  __init__", "    side" })

    said = answer(child, { type = "workspaceSymbols", query = "Square", uri = uri("shapes.py") })
    support.equal(said.answer.symbols[1].name, "Square")

    said = answer(child, { type = "incomingCalls", uri = uri("main.py"), position = { line = 3, character = 5 } })
    support.equal({ #said.answer.calls, said.answer.calls[1].ranges[1].start }, { 1, { line = 7, character = 12 } })

    said = answer(child, { type = "rename", uri = uri("shapes.py"), position = { line = 7, character = 8 }, newName = "Box" })
    local changed = {}
    for _, change in ipairs(said.answer.changes) do
      changed[vim.fs.basename(change.uri)] = #change.edits
    end
    support.equal(changed, { ["shapes.py"] = 1, ["main.py"] = 2 })

    said = answer(child, { type = "diagnostics", uri = uri("main.py") })
    support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "ready", 1 })
    support.equal(said.answer.documents[1].diagnostics[1].range.start, { line = 8, character = 13 })
    support.contains(said.answer.documents[1].diagnostics[1].message, "not assignable")
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 1)
  end)
end

--- Returns what the model has read of its tools' results.
---@param model Model
---@return string
local function read_by(model)
  local read = ""
  for _, message in ipairs(model.asked[#model.asked].messages) do
    read = read .. (message.role == "tool" and message.content .. "\n" or "")
  end
  return read
end

function T.the_agent_asks_it_and_a_rename_is_reviewed_and_undone_as_one()
  with_pyright(function(child, uri, model)
    model.answers = {
      { calls = { { name = "lsp_definition", input = { path = "main.py", line = 7, text = "Square" } } } },
      { calls = { { name = "lsp_references", input = { path = "shapes.py", symbol = "Square" } } } },
      { calls = { { name = "lsp_diagnostics", input = { path = "main.py" } } } },
      { calls = { { name = "lsp_rename", input = { path = "shapes.py", symbol = "Square", new_name = "Box" } } } },
      { text = "Renamed." },
    }
    -- A user has one of both files open, with what is not saved.
    child:command("edit main.py")
    child:lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { '# mine', 'from shapes import Square as Other' })")
    child:prompt("Call it a box.")
    child:wait_for("Renamed.", 60000)
    local read = read_by(model)
    -- The definition alone, and as one of the references.
    local _, times = read:gsub("shapes%.py:8: class Square%(Shape%):", "")
    support.equal(times, 2)
    support.contains(read, "main.py:7: return sum(Square(side).area() for side in sides)")
    support.contains(read, "main.py:11:14: error")
    support.contains(read, "[pyright: ready")
    -- All of it was pyright of Neovim's: no second process was started.
    support.equal(our_servers(child), {})
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 1)
    -- It is one proposal of both files, unsaved lines among them, and nothing is changed yet.
    local proposed = child:lua([[
      local state = require("azimuth.client").state()
      local lines, calls = {}, {}
      for _, id in ipairs(state.proposal_order) do
        for _, hunk in ipairs(state.proposals[id].hunks) do
          table.insert(lines, ("%s:%d %s"):format(state.proposals[id].path, hunk.startLine + 1, vim.trim(hunk.newText)))
          calls[table.concat(hunk.toolCallIds, ", ")] = true
        end
      end
      table.sort(lines)
      return { lines, vim.tbl_count(calls) }
    ]])
    support.equal(proposed, {
      {
        "main.py:2 from shapes import Box as Other\nfrom shapes import Box",
        "main.py:7 return sum(Box(side).area() for side in sides)",
        "shapes.py:8 class Box(Shape):",
      },
      1,
    })
    local before = { "# mine", "from shapes import Square as Other", "from shapes import Square" }
    local head = "vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 0, 3, true)"
    support.equal(child:lua("return " .. head), before)
    support.equal(support.read(vim.uri_to_fname(uri("shapes.py"))), shapes)
    child:command("stopinsert | Azimuth accept all")
    child:wait(("vim.deep_equal(%s, { '# mine', 'from shapes import Box as Other', 'from shapes import Box' })"):format(head))
    child:wait(("table.concat(vim.fn.readfile(%q)):find('class Box', 1, true) ~= nil"):format(vim.uri_to_fname(uri("shapes.py"))))
    support.equal(child:lua("return vim.fn.bufloaded('shapes.py')"), 0)
    -- And taken back as one.
    child:lua([[
      local client = require("azimuth.client")
      local undo = require("azimuth.generated.protocol").requests.checkpoint_undo
      client.request(undo, { sessionId = client.session() }, function(err, result) _G.undone = err or result end)
    ]])
    child:wait("_G.undone")
    child:wait(("vim.deep_equal(%s, %s)"):format(head, vim.inspect(before)))
    support.equal(support.read(vim.uri_to_fname(uri("shapes.py"))), shapes)
    support.equal(our_servers(child), {})
  end)
end

function T.where_neovim_runs_none_ours_is_started()
  with_pyright(function(child, _, model)
    model.answers = {
      { calls = { { name = "lsp_references", input = { path = "shapes.py", symbol = "Square" } } } },
      { text = "Found." },
    }
    child:prompt("Who uses it?")
    child:wait_for("Found.", 60000)
    support.contains(read_by(model), "main.py:5: return sum(Square(side).area() for side in sides)")
    -- So would one be seen that is not wanted.
    assert(#our_servers(child) > 0, "no server of ours was seen")
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 0)
  end, { without = true })
end

function T.pyright_answers_about_what_is_not_saved()
  with_pyright(function(child, uri)
    child:command("edit main.py")
    child:lua("vim.api.nvim_buf_set_lines(0, 8, 9, true, { 'right: int = 1', 'wrong: str = total([])' })")
    local said = answer(child, { type = "diagnostics", uri = uri("main.py") })
    local document = said.answer.documents[1]
    support.equal({ said.status, #document.diagnostics, document.diagnostics[1].range.start.line }, { "ready", 1, 9 })
    support.equal(said.version, child:lua("return vim.api.nvim_buf_get_changedtick(0)"))
    support.equal(document.version, said.version)
    child:lua("vim.api.nvim_buf_set_lines(0, 9, 10, true, {})")
    said = answer(child, { type = "diagnostics", uri = uri("main.py") })
    support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "ready", 0 })
    said = answer(child, { type = "rename", uri = uri("main.py"), position = { line = 3, character = 5 }, newName = "sum_of" })
    support.equal(said.answer.changes[1].version, said.version)
    support.equal(child:lua("return vim.lsp.get_clients({ name = 'pyright' })[1].name"), "pyright")
  end)
end

return T
