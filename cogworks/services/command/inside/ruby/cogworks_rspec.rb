# A formatter of RSpec beside the repository's own: one JSON object a line for each example that ends.
require "json"
require "rspec/core"

class CogworksFormatter
  LONGEST = 4000
  LOADING = /\AAn error occurred while loading (\S+)\.$/.freeze
  RSpec::Core::Formatters.register self, :start, :stop, :message, :example_passed, :example_failed, :example_pending

  def initialize(output)
    @output = output
  end

  def start(_notification)
    write(type: "run:start")
  end

  # A process that ends in the middle comes never here.
  def stop(_notification)
    write(type: "run:end")
  end

  # What could not be loaded is said in words alone.
  def message(notification)
    text = notification.message.to_s.gsub(/\e\[[0-9;]*m/, "").strip
    match = LOADING.match(text.lines.first.to_s.strip)
    write(type: "test:fail", name: match[1], nesting: 0, file: match[1], isFile: true, message: text[0, LONGEST]) if match
  end

  def example_passed(notification)
    ended(notification.example, "test:pass")
  end

  def example_pending(notification)
    ended(notification.example, "test:pass", skip: true)
  end

  def example_failed(notification)
    error = notification.example.exception
    ended(notification.example, "test:fail", message: "#{error.class}: #{error.message}".scrub[0, LONGEST])
  end

  private

  def ended(example, type, skip: false, message: "")
    groups = example.example_group.parent_groups.reverse.map(&:description)
    about = example.metadata
    write(
      type: type, name: [*groups, example.description].join(" > "), nesting: 0, skip: skip, message: message,
      file: about[:rerun_file_path] || about[:file_path], line: about[:line_number]
    )
  end

  def write(event)
    @output.puts(JSON.generate(event))
    @output.flush
  end
end
